#!/bin/bash
#SBATCH -A x
#SBATCH -p gpu
#SBATCH -t 10
#SBATCH --gpus-per-node=8
srun true
