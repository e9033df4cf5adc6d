#!/bin/bash
#SBATCH -N 3 --gpus=8 --time=10
srun python train.py
