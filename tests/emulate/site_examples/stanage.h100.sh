#!/bin/bash
# Source: github:rcgsheffield/sheffield_hpc:stanage/GPUComputingStanage.rst @46139758, read 2026-11-29
# Expected: 1 task on 1 node, 2 GPUs each
#SBATCH --partition=gpu-h100
#SBATCH --qos=gpu
#SBATCH --gres=gpu:2
#SBATCH --mem=16G
python3 train.py
