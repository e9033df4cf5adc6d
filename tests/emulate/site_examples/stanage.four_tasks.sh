#!/bin/bash
# Source: github:rcgsheffield/sheffield_hpc:stanage/GPUComputingStanage.rst @46139758, read 2026-11-29
# Expected: 4 tasks on 1 node, 4 GPUs each
#SBATCH --partition=gpu
#SBATCH --qos=gpu
#SBATCH --nodes=1
#SBATCH --ntasks=4
#SBATCH --cpus-per-task=4
#SBATCH --gres=gpu:4
srun python3 train.py
