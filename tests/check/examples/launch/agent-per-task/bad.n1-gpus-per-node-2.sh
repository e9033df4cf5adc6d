#!/bin/bash
#SBATCH -N1 --gpus-per-node=2
torchrun --nproc_per_node=2 --no-python torchrun --nproc_per_node=2 train.py
