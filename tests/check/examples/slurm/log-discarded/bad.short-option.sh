#!/bin/bash
#SBATCH --time=10
#SBATCH -o /dev/null
srun python train.py
