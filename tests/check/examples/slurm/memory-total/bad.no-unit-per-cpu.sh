#!/bin/bash
#SBATCH --gres=gpu:1 --mem-per-cpu=8 -c 8
srun python train.py
