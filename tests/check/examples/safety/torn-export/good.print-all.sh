#!/bin/bash
#SBATCH --nodes=1 --time=10
export
srun python train.py
