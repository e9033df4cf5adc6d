#!/bin/bash
#SBATCH -A x
#SBATCH -N1
#SBATCH -t 10
export FI_MR_CACHE_MONITOR=kdreg2
srun python train.py
