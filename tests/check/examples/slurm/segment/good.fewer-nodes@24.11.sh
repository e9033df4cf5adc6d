#!/bin/bash
#SBATCH --nodes=4 --segment=16 -t 10
srun python train.py
