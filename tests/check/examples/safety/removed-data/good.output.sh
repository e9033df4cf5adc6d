#!/bin/bash
#SBATCH --time=10
rm -rf runs
python train.py --data data --output_dir runs
