#!/bin/bash
#SBATCH -A me
#SBATCH -t 60
#SBATCH -p gpumedium
#SBATCH --gres=gpu:gh200:4
#SBATCH -N2
srun true
