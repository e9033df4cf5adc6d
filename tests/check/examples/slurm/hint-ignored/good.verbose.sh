#!/bin/bash
#SBATCH --ntasks=4
srun --hint=nomultithread --cpu-bind=verbose python train.py
