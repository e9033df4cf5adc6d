#!/bin/bash
#SBATCH --time=10
model=${1:-base}
python train.py "$model"
