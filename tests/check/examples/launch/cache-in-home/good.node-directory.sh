#!/bin/bash
#SBATCH --nodes=4 --gpus-per-node=8 --time=10
export TRITON_CACHE_DIR=$HOME/.triton/$SLURM_NODEID
srun python train.py
