#!/bin/bash
#SBATCH -N1 -c 8 --gres=gpu:4
torchrun --standalone --nproc-per-node=4 train.py
