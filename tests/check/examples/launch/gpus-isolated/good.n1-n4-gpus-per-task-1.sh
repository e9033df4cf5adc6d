#!/bin/bash
#SBATCH -N1 -n4 --gpus-per-task=1
srun --gres-flags=allow-task-sharing python train.py
