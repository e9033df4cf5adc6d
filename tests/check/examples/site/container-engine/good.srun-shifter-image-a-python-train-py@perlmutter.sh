#!/bin/bash
#SBATCH -A x
#SBATCH -C gpu
#SBATCH -q regular
#SBATCH -t 10
#SBATCH --gpus-per-node=4
srun shifter --image=a python train.py
