#!/bin/bash
#SBATCH -A naiss2024-1-1
#SBATCH -p alvis
#SBATCH -t 10
#SBATCH --gpus-per-node=4
srun true
