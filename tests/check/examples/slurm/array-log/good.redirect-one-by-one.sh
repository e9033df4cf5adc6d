#!/bin/bash
#SBATCH --array=0-9%1
#SBATCH --output=%A_%a.log
python train.py --resume --part $SLURM_ARRAY_TASK_ID > train.txt
