#!/bin/bash
#SBATCH --ntasks=8
srun --nodes=2 python train.py
