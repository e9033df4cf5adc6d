#!/bin/bash
#SBATCH --time=10
export NCLL_BLOCKING_WAIT=1
srun python train.py
