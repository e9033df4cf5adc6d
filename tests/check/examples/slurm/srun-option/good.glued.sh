#!/bin/bash
#SBATCH -t 10
srun -n4 -N2 -c8 python train.py
