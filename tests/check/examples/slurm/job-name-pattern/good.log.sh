#!/bin/bash
#SBATCH --job-name=train --output=%x-%j.out
srun python train.py
