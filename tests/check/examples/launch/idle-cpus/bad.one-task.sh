#!/bin/bash
#SBATCH --ntasks=1 -c 16
srun -c 4 torchrun --standalone --nproc_per_node=4 train.py
