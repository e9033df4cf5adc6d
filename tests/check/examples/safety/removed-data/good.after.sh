#!/bin/bash
#SBATCH --time=10
python train.py --data data
rm -rf data
