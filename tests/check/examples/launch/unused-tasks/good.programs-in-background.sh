#!/bin/bash
#SBATCH --ntasks=2
python train.py --seed 1 &
python train.py --seed 2 &
wait
