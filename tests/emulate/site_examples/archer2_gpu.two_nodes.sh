#!/bin/bash
# Source: github:ARCHER2-HPC/archer2-docs:docs/user-guide/gpu.md @000e1e14, read 2026-11-29
# Expected: 8 tasks on 2 nodes
#SBATCH --job-name=multi-GPU
#SBATCH --gpus=4
#SBATCH --nodes=2
#SBATCH --exclusive
#SBATCH --time=00:20:00
#SBATCH --account=t01
#SBATCH --partition=gpu
#SBATCH --qos=gpu-exc
srun --ntasks=8 --cpus-per-task=8 python3 train.py
