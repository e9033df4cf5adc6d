#!/bin/bash
#SBATCH --ntasks=4
srun --hint=nomultithread --ntasks-per-core=1 python train.py
