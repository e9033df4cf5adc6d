#!/bin/bash
#SBATCH --job-name=x --output=logs_%x.out
srun python train.py
