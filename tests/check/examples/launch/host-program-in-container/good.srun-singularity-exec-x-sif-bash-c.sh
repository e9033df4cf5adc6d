#!/bin/bash
srun singularity exec x.sif bash -c 'python t.py'
