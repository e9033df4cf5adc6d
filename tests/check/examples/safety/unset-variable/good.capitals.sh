#!/bin/bash
#SBATCH --time=10
SEED=${1:-0}
python train.py --seed $SEED --data $DATA_DIR
