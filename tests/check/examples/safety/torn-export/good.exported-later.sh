#!/bin/bash
#SBATCH --nodes=1 --ntasks=1 --time=10
WANDB_MODE=offline
OMP_NUM_THREADS=4
export WANDB_MODE OMP_NUM_THREADS
srun python train.py
