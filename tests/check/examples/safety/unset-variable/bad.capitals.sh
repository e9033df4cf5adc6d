#!/bin/bash
#SBATCH --time=10
python train.py --seed $SEED --epochs 10
