#!/bin/bash
#SBATCH --time=10
#SBATCH --output=%j.out
#SBATCH --error=/dev/null
python train.py
