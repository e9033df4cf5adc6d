#!/bin/bash
#SBATCH --output=run.log --open-mode=append
srun python train.py
