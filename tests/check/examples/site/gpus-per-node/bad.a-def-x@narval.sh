#!/bin/bash
#SBATCH -A def-x
#SBATCH -p mine -t 60
#SBATCH --gres=gpu:a100:8
srun true
