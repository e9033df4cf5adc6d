#!/bin/bash
#SBATCH -N1 --gpus-per-node=4
srun -n4 torchrun --standalone --nproc_per_node=gpu train.py
