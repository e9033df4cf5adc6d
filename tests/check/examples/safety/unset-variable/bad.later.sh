#!/bin/bash
#SBATCH --time=10
python train.py --seed $seed --epochs 3
seed=1
