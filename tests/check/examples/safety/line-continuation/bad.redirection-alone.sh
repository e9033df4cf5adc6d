#!/bin/bash
#SBATCH --time=10
python train.py --epochs 10
    > train.log 2>&1
