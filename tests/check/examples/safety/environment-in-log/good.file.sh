#!/bin/bash
#SBATCH --time=10
env > env.txt
python train.py
