#!/bin/bash
#SBATCH -A x
#SBATCH --time=10
#SBATCH -p batch
#SBATCH -N 20
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-task=1
srun true
