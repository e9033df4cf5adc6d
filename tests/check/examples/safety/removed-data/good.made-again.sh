#!/bin/bash
#SBATCH --time=10
rm -rf data
python prepare.py
python train.py --data data
