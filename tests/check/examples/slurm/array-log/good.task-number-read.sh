#!/bin/bash
#SBATCH --output=%A_%a.out
srun python train.py --seed "$SLURM_ARRAY_TASK_ID"
