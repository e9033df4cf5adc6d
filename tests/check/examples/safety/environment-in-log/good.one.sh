#!/bin/bash
#SBATCH --time=10
printenv PATH
python train.py
