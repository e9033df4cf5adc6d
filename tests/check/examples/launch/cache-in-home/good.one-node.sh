#!/bin/bash
#SBATCH --nodes=1 --gpus-per-node=8 --time=10
export TRITON_CACHE_DIR=$HOME/.triton/cache
srun python train.py
