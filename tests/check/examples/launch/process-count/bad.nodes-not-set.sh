#!/bin/bash
#SBATCH --gres=gpu:4 --time=10
torchrun --standalone --nproc_per_node=8 train.py
