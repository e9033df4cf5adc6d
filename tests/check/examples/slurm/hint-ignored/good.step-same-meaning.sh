#!/bin/bash
#SBATCH --ntasks=16
srun -n 16 --hint=nomultithread --threads-per-core=1 --cpu-bind=cores python train.py
