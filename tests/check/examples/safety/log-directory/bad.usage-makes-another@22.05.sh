#!/bin/bash
#SBATCH --output=logs/train_%j.out
#
# Usage:
#   mkdir -p results && sbatch train.sh
srun python train.py
