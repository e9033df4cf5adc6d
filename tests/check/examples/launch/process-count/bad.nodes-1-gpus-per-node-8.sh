#!/bin/bash
#SBATCH --nodes=1 --gpus-per-node=8
srun -n1 torchrun --standalone --nproc_per_node=4 train.py
