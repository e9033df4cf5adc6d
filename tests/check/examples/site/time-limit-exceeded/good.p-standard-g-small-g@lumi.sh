#!/bin/bash
#SBATCH -A project_462000001
#SBATCH -p standard-g,small-g
#SBATCH --gpus-per-node=8
#SBATCH --time=3-0
srun true
