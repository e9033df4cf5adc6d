#!/bin/bash
#SBATCH --account=me
#SBATCH -t 60
#SBATCH -p gpumedium
#SBATCH --gres=gpu:gh200:4
#SBATCH --mem=100G
srun true
