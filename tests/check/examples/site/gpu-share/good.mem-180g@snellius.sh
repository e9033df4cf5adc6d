#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --gpus-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --mem=180G
srun true
