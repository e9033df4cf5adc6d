#!/bin/bash
#SBATCH --nodes=1 --gres=gpu:4
srun --gres=gpu:2 python train.py
