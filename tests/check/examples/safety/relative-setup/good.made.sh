#!/bin/bash
#SBATCH --time=10
mkdir -p out
cd out
python ../train.py
