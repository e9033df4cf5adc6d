#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --gpus-per-node=8 --time=10
export TRITON_CACHE_DIR=/home/me/triton
srun python train.py
