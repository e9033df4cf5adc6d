#!/bin/bash
# Source: github:eth-cscs/cscs-docs:docs/running/slurm.md @02609e65, read 2026-11-29
# Expected: 8 tasks on 2 nodes, 1 GPU each
#SBATCH --account=g100
#SBATCH --job-name=gh200-single-rank-per-gpu
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-task=1
srun python3 train.py
