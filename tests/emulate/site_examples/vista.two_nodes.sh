#!/bin/bash
# Source: github:TACC/TACC-Docs:docs/hpc/vista/ml.md @1d94ecfa, read 2026-11-29
# Expected: 2 tasks on 2 nodes
#SBATCH -p gh-dev
#SBATCH -N 2
#SBATCH -n 2
#SBATCH -t 01:00:00
module load gcc cuda
module load python3_mpi
ibrun -np 2 python3 train.py
