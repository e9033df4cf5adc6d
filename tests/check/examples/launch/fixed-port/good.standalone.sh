#!/bin/bash
#SBATCH --nodes=1 --gres=gpu:2
torchrun --standalone --nproc_per_node=2 train.py
