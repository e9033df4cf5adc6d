#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=8
#SBATCH --nodes=2 --ntasks=16
#SBATCH --cpus-per-task=20
srun true
