#!/bin/bash
#SBATCH -n4
export OMP_NUM_THREADS=8
srun -c 4 python train.py
