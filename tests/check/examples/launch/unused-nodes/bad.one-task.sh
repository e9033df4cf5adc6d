#!/bin/bash
#SBATCH --nodes=2 --gpus-per-node=4
srun -n1 torchrun --standalone --nproc_per_node=4 train.py
