#!/bin/bash
#SBATCH -N2 -c 12
srun --ntasks-per-node=1 torchrun --nproc_per_node=4 train.py
