#!/bin/bash
#SBATCH --gres=gpu:4 --ntasks=8 --time=10
torchrun --nproc_per_node=8 train.py
