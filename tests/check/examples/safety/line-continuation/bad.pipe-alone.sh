#!/bin/bash
#SBATCH --time=10
python train.py --lr 1
2>&1 | tee train.log
