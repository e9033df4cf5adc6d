#!/bin/bash
#SBATCH -p gpu
#SBATCH --qos=gpu
#SBATCH -N1
#SBATCH --gpus-per-node=2
#SBATCH -t 10
srun true
