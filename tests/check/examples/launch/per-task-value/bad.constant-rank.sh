#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
export RANK=0
export WORLD_SIZE=8
srun python train.py
