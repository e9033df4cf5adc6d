#!/bin/bash
#SBATCH -A g1
#SBATCH -N1
#SBATCH -t 10
#SBATCH -p normal
srun singularity exec --nv a.sif python train.py
