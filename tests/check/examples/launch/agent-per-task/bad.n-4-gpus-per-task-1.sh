#!/bin/bash
#SBATCH -n 4 --gpus-per-task=1
srun torchrun train.py
