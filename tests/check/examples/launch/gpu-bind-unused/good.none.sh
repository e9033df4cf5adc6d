#!/bin/bash
#SBATCH --nodes=1 --gpus-per-node=4 --gpu-bind=none
torchrun --standalone --nproc_per_node=4 train.py
