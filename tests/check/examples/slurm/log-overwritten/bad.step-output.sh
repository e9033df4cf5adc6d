#!/bin/bash
#SBATCH --output=%j.out
srun --output=logs/train.log python train.py
