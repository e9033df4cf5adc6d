#!/bin/bash
#SBATCH --time=10
DATASETS=/scratch/me/data
python train.py --data ${DATASET:-$DATASETS}
