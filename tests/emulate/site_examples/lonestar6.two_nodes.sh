#!/bin/bash
# Source: github:TACC/TACC-Docs:docs/hpc/6lonestar/ml.md @10be1863, read 2026-11-29
# Expected: 2 tasks on 2 nodes
#SBATCH -p gpu-a100-dev
#SBATCH -N 2
#SBATCH -n 2
#SBATCH -t 01:00:00
module load python3/3.9.7
ibrun -np 2 python3 train.py
