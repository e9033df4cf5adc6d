#!/bin/bash
# Source: github:N8-CIR-Bede/documentation:usage/index.rst @001180f3, read 2026-11-29
# Expected: 1 task on 1 node, 1 GPU each
#SBATCH --account=bdabc01
#SBATCH --time=1:0:0
#SBATCH --partition=gpu
#SBATCH --nodes=1
#SBATCH --gres=gpu:1
nvidia-smi
python3 train.py
