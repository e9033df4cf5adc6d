#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=8
#SBATCH --mem=0
srun true
