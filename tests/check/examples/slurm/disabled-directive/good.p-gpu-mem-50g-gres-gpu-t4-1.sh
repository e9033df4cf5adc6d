#!/bin/bash
#SBATCH -p gpu --mem=50G --gres=gpu:t4:1
# SBATCH --partition=debug
# SBATCH --mem-per-cpu=10G
# SBATCH --gpus=1
 #SBATCH -p long
