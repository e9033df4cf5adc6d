#!/bin/bash
#SBATCH --gres=gpu:v100:4
srun python train.py --bf16 False
