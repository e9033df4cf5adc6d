#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun env PET_NNODES=2 torchrun --nproc_per_node=4 train.py
