#!/bin/bash
#SBATCH --array=0-8
#SBATCH --output=%A_%a.log
lr=(0.1 0.01 0.001)
python train.py --lr ${lr[$((SLURM_ARRAY_TASK_ID % 3))]}
