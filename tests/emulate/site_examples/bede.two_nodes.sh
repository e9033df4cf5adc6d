#!/bin/bash
# Source: github:N8-CIR-Bede/documentation:usage/index.rst @001180f3 (one process per GPU, as the page's list of --bede-par has it), read 2026-11-29
# Expected: 8 tasks on 2 nodes
#SBATCH --account=bdabc01
#SBATCH --time=1:0:0
#SBATCH --partition=gpu
#SBATCH --nodes=2
#SBATCH --gres=gpu:4
bede-mpirun --bede-par 1ppg python3 train.py
