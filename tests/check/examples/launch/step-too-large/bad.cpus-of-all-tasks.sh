#!/bin/bash
#SBATCH --nodes=1 --ntasks=8 --time=10
srun -c 2 python train.py
