#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=4 --gpus-per-node=4
torchrun --standalone --nproc_per_node=4 train.py
