#!/bin/bash
#SBATCH --job-name=train --time=10
#SBATCH --output=logs_%x_%A_%a.out
srun python train.py
