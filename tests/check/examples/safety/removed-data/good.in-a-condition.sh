#!/bin/bash
#SBATCH --time=10
if [ -n "$CLEAN" ]; then rm -rf data; fi
python train.py --data data
