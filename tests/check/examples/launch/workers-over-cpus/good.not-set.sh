#!/bin/bash
#SBATCH --ntasks=1 --time=10
srun python train.py --num_workers 8
