#!/bin/bash
#SBATCH --ntasks=1 --time=10
# Usage: sbatch --array=0-9 seeds.sh
python train.py --seed $SLURM_ARRAY_TASK_ID
