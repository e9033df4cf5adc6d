#!/bin/bash
#SBATCH -A project_462000001
#SBATCH -p dev-g
#SBATCH --gpus-per-node=8
#SBATCH --time=4:0:0
#SBATCH --time-min=60
srun true
