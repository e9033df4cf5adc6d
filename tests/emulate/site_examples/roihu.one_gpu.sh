#!/bin/bash
# Source: github:CSCfi/csc-user-guide:docs/computing/running/example-job-scripts-roihu.md @153032b0, read 2026-11-29
# Expected: 1 task on 1 node, 1 GPU each
#SBATCH --job-name=example
#SBATCH --account=project_2000000
#SBATCH --partition=gpumedium
#SBATCH --time=00:30:00
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1 --cpus-per-task=72
#SBATCH --gres=gpu:gh200:1
srun python3 train.py
