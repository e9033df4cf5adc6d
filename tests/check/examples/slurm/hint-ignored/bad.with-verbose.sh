#!/bin/bash
#SBATCH --ntasks=4
srun --hint=nomultithread --cpu-bind=verbose,cores python train.py
