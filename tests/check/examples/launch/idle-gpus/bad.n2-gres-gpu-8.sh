#!/bin/bash
#SBATCH -N2 --gres=gpu:8
srun python train.py --epochs 3
