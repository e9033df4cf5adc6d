#!/bin/bash
#SBATCH --partition=gpu​
srun python train.py
