#!/bin/bash
#SBATCH -t 60 -n 4
srun --cpu-bind=verbose,mask_cpu:0x1,0x2 python train.py
