#!/bin/bash
#SBATCH --time=10
data="$1"
python train.py "$data"
