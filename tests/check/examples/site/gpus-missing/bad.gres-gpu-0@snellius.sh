#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --gres=gpu:0
srun true
