#!/bin/bash
#SBATCH --ntasks=4 --cpus-per-task=12
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
srun --cpus-per-task=$SLURM_CPUS_PER_TASK python train.py
