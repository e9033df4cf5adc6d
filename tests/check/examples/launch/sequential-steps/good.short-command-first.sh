#!/bin/bash
#SBATCH -N1 -n4 --time=10
srun hostname &
srun python train.py
