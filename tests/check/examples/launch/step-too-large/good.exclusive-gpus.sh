#!/bin/bash
#SBATCH --nodes=1 --exclusive --gres=gpu:1
srun --gres=gpu:4 python train.py
