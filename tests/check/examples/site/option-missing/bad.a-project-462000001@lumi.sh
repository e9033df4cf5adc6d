#!/bin/bash
#SBATCH -A project_462000001
#SBATCH -p small-g
#SBATCH --gpus-per-node=1
srun true
