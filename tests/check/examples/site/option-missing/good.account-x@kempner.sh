#!/bin/bash
#SBATCH --account=x
#SBATCH -p kempner
#SBATCH --mem-per-cpu=4G
#SBATCH --gres=gpu:1
#SBATCH -t 10
srun true
