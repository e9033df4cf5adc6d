#!/bin/bash
#SBATCH --array=1-10 --output=%A_%a.log
python train.py --seed $RANDOM
