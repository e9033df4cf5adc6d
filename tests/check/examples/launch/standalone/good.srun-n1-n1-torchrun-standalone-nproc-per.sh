#!/bin/bash
#SBATCH --nodes=2
srun -N1 -n1 torchrun --standalone --nproc_per_node=4 train.py
