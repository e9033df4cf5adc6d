#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH -N2
#SBATCH --gpus-per-node=4
srun true
