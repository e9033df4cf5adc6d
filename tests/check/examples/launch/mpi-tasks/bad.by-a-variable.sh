#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=32
RANKS=16
mpiexec -np $RANKS python train.py
