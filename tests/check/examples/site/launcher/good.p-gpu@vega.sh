#!/bin/bash
#SBATCH -p gpu
#SBATCH -N1
#SBATCH -t 10
#SBATCH --gpus=1
srun ./train
