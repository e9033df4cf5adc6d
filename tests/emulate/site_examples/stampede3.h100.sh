#!/bin/bash
# Source: github:TACC/TACC-Docs:docs/hpc/3stampede/running.md @13433755, read 2026-11-29
# Expected: 8 tasks on 2 nodes
#SBATCH -p h100
#SBATCH -N 2
#SBATCH --ntasks-per-node=4
#SBATCH -t 01:00:00
ibrun python3 train.py
