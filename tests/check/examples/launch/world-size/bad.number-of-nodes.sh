#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4 --cpus-per-task=8 --gpus-per-node=4 --time=10
export WORLD_SIZE=$SLURM_NNODES
srun -c8 python train.py
