#!/bin/bash
#SBATCH --time=10
mkdir -p logs
> logs/train.log
python train.py >> logs/train.log
