#!/bin/bash
#SBATCH --ntasks=4 --gres=gpu:4
srun python train.py
