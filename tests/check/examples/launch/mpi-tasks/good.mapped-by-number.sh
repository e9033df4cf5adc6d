#!/bin/bash
#SBATCH --nodes=1 --ntasks=2
mpirun -n 4 --map-by ppr:4:node python train.py
