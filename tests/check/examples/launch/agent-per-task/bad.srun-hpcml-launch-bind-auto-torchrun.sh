#!/bin/bash
#SBATCH -N1 --ntasks-per-node=2 --gpus-per-node=2
srun hpcml launch --bind auto -- torchrun --nproc_per_node=2 train.py
