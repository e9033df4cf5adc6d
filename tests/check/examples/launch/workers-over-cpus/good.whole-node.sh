#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=4 --exclusive --time=10
python train.py --num-workers 16
