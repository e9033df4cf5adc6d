#!/bin/bash
#SBATCH --ntasks=1 --time=10
python train.py --seed $SLURM_ARRAY_TASK_ID
