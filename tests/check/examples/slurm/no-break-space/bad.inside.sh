#!/bin/bash
#SBATCH --job-name= run
srun python train.py
