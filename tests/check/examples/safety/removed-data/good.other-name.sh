#!/bin/bash
#SBATCH --time=10
rm -rf data_old
python train.py --data data
