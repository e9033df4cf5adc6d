#!/bin/bash
#SBATCH --time=10
#SBATCH --nodes=2
MASTER_ADDR=$host srun python train.py
