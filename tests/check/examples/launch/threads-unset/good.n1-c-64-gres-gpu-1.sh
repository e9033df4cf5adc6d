#!/bin/bash
#SBATCH -N1 -c 64 --gres=gpu:1
srun python train.py
