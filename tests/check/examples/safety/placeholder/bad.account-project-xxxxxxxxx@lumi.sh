#!/bin/bash
#SBATCH --account=project_xxxxxxxxx
#SBATCH -t 10
#SBATCH -p small-g
#SBATCH --gpus-per-node=1
srun true
