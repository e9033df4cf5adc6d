#!/bin/bash
#SBATCH --nodes=2 --gpus=a100:3 --time=10
srun python train.py
