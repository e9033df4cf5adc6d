#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH --partition=gpu_a100
#SBATCH --gpus-per-node=8
srun true
