#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
WORLD_SIZE=16 srun python train.py
