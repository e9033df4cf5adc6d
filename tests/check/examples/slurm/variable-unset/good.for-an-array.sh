#!/bin/bash
#SBATCH --ntasks=1 --time=10
# Meant to be run as an array job.
python train.py --seed $SLURM_ARRAY_TASK_ID
