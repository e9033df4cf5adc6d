#!/bin/bash
#SBATCH -N1 -n2
OMP_NUM_THREADS=7 srun --cpu-bind=mask_cpu:0xfe,0xfe00 python train.py
