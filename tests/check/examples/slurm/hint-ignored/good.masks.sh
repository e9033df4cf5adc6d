#!/bin/bash
#SBATCH --ntasks=4
srun --hint=nomultithread --cpu-bind=mask_cpu:0x1,0x2,0x4,0x8 python train.py
