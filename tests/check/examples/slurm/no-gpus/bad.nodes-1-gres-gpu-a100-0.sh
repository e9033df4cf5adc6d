#!/bin/bash
#SBATCH --nodes=1 --gres=gpu:a100:0
srun python train.py
