#!/bin/bash
#SBATCH --array=0-1
#SBATCH --output=vdn.out
srun python train.py --seed $SLURM_ARRAY_TASK_ID
