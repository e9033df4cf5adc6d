#!/bin/bash
#SBATCH -A me
#SBATCH -t 60
#SBATCH --gpus-per-node=4
#SBATCH -N2
srun true
