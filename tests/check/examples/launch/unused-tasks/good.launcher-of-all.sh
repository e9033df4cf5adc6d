#!/bin/bash
#SBATCH --ntasks-per-node=4 --nodes=1 --gres=gpu:4
torchrun --standalone --nproc_per_node=4 train.py
