#!/bin/bash
#SBATCH --time=10
python train.py > train.log
2>&1
