#!/bin/bash
#SBATCH --time=10
rm -rf data
python train.py --data data --download
