#!/bin/bash
#SBATCH --output=/dev/null
srun python train.py
