#!/bin/bash
#SBATCH --time=10
#SBATCH --output=/dev/null
python train.py > train.log 2>&1
