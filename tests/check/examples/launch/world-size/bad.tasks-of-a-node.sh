#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4 --time=10
export WORLD_SIZE=$SLURM_NTASKS_PER_NODE
srun python train.py
