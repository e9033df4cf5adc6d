#!/bin/bash
#SBATCH --gpus=4 --cpus-per-gpu=8
torchrun --standalone --nproc_per_node=4 train.py
