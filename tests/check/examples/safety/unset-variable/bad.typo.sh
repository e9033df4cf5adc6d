#!/bin/bash
#SBATCH --time=10
suffix=a
python train.py --out roc-$suffic.pickle
