#!/bin/bash
#SBATCH -N1 -n2
MASKS=0xfe,0xfe00
srun --cpu-bind=cores python train.py
