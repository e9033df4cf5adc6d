#!/bin/bash
#SBATCH --job-name=%%job-name%%
srun python train.py
