#!/bin/bash
#SBATCH --ntasks=4 --hint=nomultithread
srun --cpu-bind=cores python train.py
