#!/bin/bash
#SBATCH -p gpu
#SBATCH --qos=gpu
#SBATCH -N1
#SBATCH --gres=gpu:2
#SBATCH -t 10
srun true
