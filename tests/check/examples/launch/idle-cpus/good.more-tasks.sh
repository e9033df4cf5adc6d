#!/bin/bash
#SBATCH --nodes=1 --ntasks=1 --cpus-per-task=8
srun -n 4 -c 2 --exact python train.py
