#!/bin/bash
#SBATCH --time=10
srun python train.py -c $1 -p $2
