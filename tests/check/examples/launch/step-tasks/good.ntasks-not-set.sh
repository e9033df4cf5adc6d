#!/bin/bash
#SBATCH --nodes=2 --time=10
srun --ntasks-per-node=4 python train.py
