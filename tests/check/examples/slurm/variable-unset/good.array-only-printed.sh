#!/bin/bash
#SBATCH --ntasks=1 --time=10
echo "Array task: $SLURM_ARRAY_TASK_ID"
python train.py
