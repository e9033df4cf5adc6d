#!/bin/bash
#SBATCH --time=10
#SBATCH --output=%j.out
python train.py
