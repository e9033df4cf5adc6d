#!/bin/bash
#SBATCH --time=10
python train.py --data $SCRATCH/data
