#!/bin/bash
#SBATCH --nodes=4 --ntasks-per-node=8 --gpus-per-node=8 --time=10
export MIOPEN_USER_DB_PATH=$HOME/miopen
srun python train.py
