#!/bin/bash
#SBATCH --nodes=4 --ntasks-per-node=1 --gpus-per-node=8 --time=10
export TORCHINDUCTOR_CACHE_DIR=$HOME/.cache/inductor
srun python train.py
