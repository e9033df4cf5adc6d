#!/bin/bash
#SBATCH -N1 -n2
M=0xfe,0xfe00
B="mask_cpu:${M}"
srun --cpu-bind=$B python train.py
