#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
export WORLD_SIZE=$((SLURM_NNODES * 8))
srun python train.py
