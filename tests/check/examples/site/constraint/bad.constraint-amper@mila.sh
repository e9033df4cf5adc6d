#!/bin/bash
#SBATCH -p long
#SBATCH -t 10
#SBATCH --gres=gpu:1
#SBATCH --constraint=amper
srun true
