#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --gpus-per-node=8
#SBATCH -N2
srun true
