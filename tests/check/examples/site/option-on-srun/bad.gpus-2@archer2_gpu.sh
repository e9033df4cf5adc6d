#!/bin/bash
#SBATCH --account=x
#SBATCH -p gpu
#SBATCH --qos=gpu-shd
#SBATCH --gpus=2
#SBATCH -t 10
#SBATCH --cpus-per-task=8
srun true
