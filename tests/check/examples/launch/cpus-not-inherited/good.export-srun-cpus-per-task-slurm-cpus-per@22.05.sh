#!/bin/bash
#SBATCH --ntasks=4 --cpus-per-task=8
export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK
srun python train.py
