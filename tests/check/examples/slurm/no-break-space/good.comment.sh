#!/bin/bash
#SBATCH --job-name=run # a comment
srun python train.py
