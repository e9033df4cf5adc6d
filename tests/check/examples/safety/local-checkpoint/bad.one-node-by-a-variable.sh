#!/bin/bash
#SBATCH --gpus=1
OUT=/tmp/run1
mkdir -p $OUT
python train.py --save_dir=$OUT
