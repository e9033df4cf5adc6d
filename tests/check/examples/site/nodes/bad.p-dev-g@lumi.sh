#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p dev-g
#SBATCH --gpus-per-node=8
#SBATCH --nodes=33-40
srun true
