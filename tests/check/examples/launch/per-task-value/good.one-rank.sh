#!/bin/bash
#SBATCH --nodes=1 --ntasks=1
export RANK=0
export WORLD_SIZE=1
srun python train.py
