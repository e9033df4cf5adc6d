#!/bin/bash
#SBATCH --account=[account] --time=10
srun python train.py
