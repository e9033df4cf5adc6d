#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p gpu
#SBATCH --qos=gpu-exc
#SBATCH --exclusive
#SBATCH --gpus=12
#SBATCH -N3
srun true
