#!/bin/bash
#SBATCH --gres=gpu:a100:4
srun python train.py --bf16
