#!/bin/bash
#SBATCH --gres=gpu:1
srun nvidia-docker run --rm image python train.py
