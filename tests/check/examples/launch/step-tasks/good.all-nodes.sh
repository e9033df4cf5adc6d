#!/bin/bash
#SBATCH --nodes=2 --ntasks=8
srun --nodes=2 python train.py
