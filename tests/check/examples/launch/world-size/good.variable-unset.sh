#!/bin/bash
#SBATCH --nodes=2 --gpus-per-node=4
export WORLD_SIZE=$((SLURM_NNODES * SLURM_NTASKS_PER_NODE))
srun --ntasks-per-node=4 python train.py
