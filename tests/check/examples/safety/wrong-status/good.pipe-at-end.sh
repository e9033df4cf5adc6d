#!/bin/bash
#SBATCH --time=10
srun python train.py
python report.py |
  grep -v $?
