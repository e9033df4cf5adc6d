#!/bin/bash
#SBATCH --nodes=1 --time=10
export \
  OMP_NUM_THREADS=4
srun python train.py
