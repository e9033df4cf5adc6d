#!/bin/bash
#SBATCH --time=10
export -p
python train.py
