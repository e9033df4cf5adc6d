#!/bin/bash
#SBATCH --gres=gpu:4 --exclusive
torchrun --standalone --nproc_per_node=4 train.py
