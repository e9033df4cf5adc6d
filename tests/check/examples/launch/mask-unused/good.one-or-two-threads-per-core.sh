#!/bin/bash
#SBATCH -N1 -n2
# one or two threads per core
MASK_1=0xfe,0xfe00
MASK_2=0xfe00fe,0xfe00fe00
MASK=$MASK_1
srun --cpu-bind=mask_cpu:$MASK python train.py
