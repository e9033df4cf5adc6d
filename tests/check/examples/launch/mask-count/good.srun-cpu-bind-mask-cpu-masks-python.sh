#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=2
srun --cpu-bind=mask_cpu:$MASKS python train.py
