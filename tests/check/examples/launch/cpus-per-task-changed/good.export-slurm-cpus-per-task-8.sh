#!/bin/bash
#SBATCH --ntasks=4 --cpus-per-task=8
export SLURM_CPUS_PER_TASK=8
srun python train.py
