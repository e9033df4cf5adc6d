#!/bin/bash
#SBATCH --export=NONE
unset SLURM_EXPORT_ENV
srun python train.py
