#!/bin/bash
#SBATCH --ntasks=4 --cpus-per-task=8
srun -c 2 python prepare.py
srun -c 8 python train.py
