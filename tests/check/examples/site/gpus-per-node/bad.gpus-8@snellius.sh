#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --gpus=8
#SBATCH -N1
srun true
