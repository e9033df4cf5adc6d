#!/bin/bash
#SBATCH --nodes=10
#SBATCH --segment=4
srun python train.py
