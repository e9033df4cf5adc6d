#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=8
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=14
srun true
