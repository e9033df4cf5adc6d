#!/bin/bash
#SBATCH --nodes=1 --gres=gpu:2
srun --gres=gpu:4 python train.py
