#!/bin/bash
#SBATCH --time=10
source settings.sh
DATASETS=/scratch/me/data
python train.py --data $DATASETS --name $DATASET
