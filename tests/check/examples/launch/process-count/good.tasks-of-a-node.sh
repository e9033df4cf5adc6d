#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=4 --gpus-per-node=4 --time=10
uv run torchrun --nproc_per_node=$SLURM_NTASKS_PER_NODE --nnodes=$SLURM_NNODES train.py
