#!/bin/bash
#SBATCH --nodes=2 --gpus-per-node=4
export WORLD_SIZE=$((SLURM_NNODES * SLURM_GPUS_PER_NODE))
srun python train.py
