#!/bin/bash
#SBATCH --time=10
#SBATCH --output=/dev/null
srun --output=%j.log python train.py
