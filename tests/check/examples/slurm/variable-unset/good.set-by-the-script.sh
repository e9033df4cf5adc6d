#!/bin/bash
#SBATCH --nodes=2 --ntasks=8
SLURM_NUM_TASKS=8
srun python train.py --world $SLURM_NUM_TASKS
