#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --time=10
export WORLD_SIZE=$SLURM_NNODES
srun python train.py
