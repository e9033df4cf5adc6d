#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p dev-g
#SBATCH --gpus-per-node=1
#SBATCH --array=0-9:2
srun true
