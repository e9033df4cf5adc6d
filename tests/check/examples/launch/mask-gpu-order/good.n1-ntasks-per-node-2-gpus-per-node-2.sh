#!/bin/bash
#SBATCH -N1 --ntasks-per-node=2 --gpus-per-node=2
srun --cpu-bind=mask_cpu:0xfe,0xfe00 python train.py
