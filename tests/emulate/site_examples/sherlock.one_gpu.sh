#!/bin/bash
# Source: github:stanford-rc/www.sherlock.stanford.edu:src/docs/user-guide/gpu.md @03c5f9e5, read 2026-11-29
# Expected: 1 task on 1 node, 1 GPU each
#SBATCH -p gpu
#SBATCH -c 10
#SBATCH -G 1
ml load gromacs/2016.3
srun python3 train.py
