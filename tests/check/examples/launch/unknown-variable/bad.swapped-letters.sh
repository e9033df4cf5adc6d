#!/bin/bash
#SBATCH --time=10
export OPENBLAS_NUM_TRHEADS=1
srun python train.py
