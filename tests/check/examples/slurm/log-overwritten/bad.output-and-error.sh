#!/bin/bash
#SBATCH --output=run.out --error=run.err
srun python train.py
