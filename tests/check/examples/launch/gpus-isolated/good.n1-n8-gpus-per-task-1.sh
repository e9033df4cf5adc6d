#!/bin/bash
#SBATCH -N1 -n8 --gpus-per-task=1
export MIOPEN_USER_DB_PATH=/tmp/x
srun python train.py
