#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g,standard-g
#SBATCH --gpus-per-node=8
#SBATCH -N8
srun true
