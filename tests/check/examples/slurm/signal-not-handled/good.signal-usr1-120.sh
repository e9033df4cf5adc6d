#!/bin/bash
#SBATCH --signal=USR1@120
srun python train.py
