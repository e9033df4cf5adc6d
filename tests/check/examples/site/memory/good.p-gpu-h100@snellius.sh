#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --gpus-per-node=4
#SBATCH --mem-per-gpu=180G
srun true
