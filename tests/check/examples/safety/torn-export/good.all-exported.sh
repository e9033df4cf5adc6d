#!/bin/bash
#SBATCH --nodes=1 --ntasks=1 --time=10
set -a
WANDB_MODE=offline
set +a
srun python train.py
