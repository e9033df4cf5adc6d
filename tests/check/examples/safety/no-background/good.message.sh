#!/bin/bash
#SBATCH --time=10
echo 'costs 5$!'
python train.py
