#!/bin/bash
srun apptainer exec --bind /scratch:data x.sif python t.py
