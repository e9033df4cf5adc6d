#!/bin/bash
#SBATCH -A me
#SBATCH -t 60
#SBATCH -p gpu-h100
#SBATCH --gres=gpu:h100:4
srun true
