#!/bin/bash
#SBATCH --nodes=2
srun --nodes=1 python train.py
