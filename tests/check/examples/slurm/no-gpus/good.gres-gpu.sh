#!/bin/bash
#SBATCH --gres=gpu
srun python train.py
