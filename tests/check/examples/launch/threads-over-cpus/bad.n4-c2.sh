#!/bin/bash
#SBATCH -n4 -c2
OMP_NUM_THREADS=8 srun python train.py
