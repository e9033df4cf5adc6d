#!/bin/bash
#SBATCH --time=10
export WORLDSIZE=4
srun python train.py
