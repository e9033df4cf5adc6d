#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p gpu -q gpu-exc
#SBATCH --gpus=8
#SBATCH -N2
srun true
