#!/bin/bash
#SBATCH --time=10
set -e
python train.py
cp -r /scratch/$USER/run $HOME/results
rm -rf /scratch/$USER/run
