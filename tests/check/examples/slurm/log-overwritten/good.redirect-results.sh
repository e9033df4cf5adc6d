#!/bin/bash
#SBATCH --output=%j.out
python evaluate.py > results.json
python train.py >> train.log
python train.py > /dev/null 2>&1
