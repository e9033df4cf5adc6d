#!/bin/bash
#SBATCH --time=10
model=$1
[ -z "$model" ] && exit 1
python train.py "$model"
