#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=2 --gpus-per-node=2 --time=10
# Not used at present, kept for a later comparison
MASKS="0xfe,0xfe00"
srun --cpu-bind=cores python train.py
