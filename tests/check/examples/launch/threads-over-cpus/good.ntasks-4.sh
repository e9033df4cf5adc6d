#!/bin/bash
#SBATCH --ntasks=4
export OMP_NUM_THREADS=8
srun python train.py
