#!/bin/bash
#SBATCH --ntasks=4 --ntasks-per-core=1 --hint=nomultithread
srun python train.py
