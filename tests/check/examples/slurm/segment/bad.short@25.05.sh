#!/bin/bash
#SBATCH -N 7 --segment 2 -t 10
srun python train.py
