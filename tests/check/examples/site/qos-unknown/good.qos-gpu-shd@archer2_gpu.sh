#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p gpu
#SBATCH --qos=gpu-shd
#SBATCH --gpus=1
srun true
