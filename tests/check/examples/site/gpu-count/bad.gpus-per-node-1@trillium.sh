#!/bin/bash
#SBATCH -A me
#SBATCH -t 60
#SBATCH --gpus-per-node=1
#SBATCH -N2
srun true
