#!/bin/bash
#SBATCH -N2 --ntasks-per-node=1
srun env OLD_PET_NNODES=2 torchrun --nproc_per_node=4 train.py
