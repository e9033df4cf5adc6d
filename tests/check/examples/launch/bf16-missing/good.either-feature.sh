#!/bin/bash
#SBATCH --gres=gpu:4 --constraint=v100|a100
srun python train.py --bf16
