#!/bin/bash
#SBATCH --partition=XXX --time=10
srun python train.py
