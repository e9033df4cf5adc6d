#!/bin/bash
#SBATCH --nodes=1 --gres=gpu:2
torchrun --nproc_per_node=2 train.py
