#!/bin/bash
#SBATCH --time=10
srun python train.py
SBATCH --signal=SIGUSR1@90
