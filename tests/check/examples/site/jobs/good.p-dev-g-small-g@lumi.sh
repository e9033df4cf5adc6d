#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p dev-g,small-g
#SBATCH --gpus-per-node=1
#SBATCH --array=1-100
srun true
