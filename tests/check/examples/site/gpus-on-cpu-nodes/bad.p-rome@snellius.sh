#!/bin/bash
#SBATCH -p rome
#SBATCH -t 10
#SBATCH --gres=gpu:1
srun true
