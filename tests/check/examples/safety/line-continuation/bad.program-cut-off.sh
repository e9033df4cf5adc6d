#!/bin/bash
#SBATCH --time=10
srun \
  --ntasks=4 \
  # all of them
  python train.py
