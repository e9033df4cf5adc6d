#!/bin/bash
#SBATCH --job-name=top5%
srun python train.py
