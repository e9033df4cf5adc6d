#!/bin/bash
#SBATCH --time=10
python train.py
cp -r /scratch/$USER/run $HOME/results || exit 1
rm -rf /scratch/$USER/run
