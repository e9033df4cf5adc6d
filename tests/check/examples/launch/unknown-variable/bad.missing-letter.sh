#!/bin/bash
#SBATCH --time=10
export OMP_NUM_THREAD=8
srun python train.py
