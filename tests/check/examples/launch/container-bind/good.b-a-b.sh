#!/bin/bash
B='/a:/b,'
B+="/c,"
srun singularity exec --bind "$B" x.sif python t.py
