#!/bin/bash
#SBATCH --array=0-9
#SBATCH --output=%A_%a.log
python train.py --seed $SLURM_ARRAY_TASK_ID > train.txt
