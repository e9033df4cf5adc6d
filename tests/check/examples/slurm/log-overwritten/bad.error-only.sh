#!/bin/bash
#SBATCH --output=%j.out --error=train.err
srun python train.py
