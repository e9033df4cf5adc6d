#!/bin/bash
#SBATCH --ntasks=4 --cpus-per-task=8
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
srun python train.py
