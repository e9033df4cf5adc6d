#!/bin/bash
#SBATCH --output=logs/train_%j.out
#
# Usage:
#   mkdir -p logs
#   sbatch train.sh
srun python train.py
