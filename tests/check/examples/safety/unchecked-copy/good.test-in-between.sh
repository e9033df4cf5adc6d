#!/bin/bash
#SBATCH --time=10
python train.py
mv /scratch/$USER/run/best.pt $HOME/results/
[ -f $HOME/results/best.pt ] || exit 1
rm -rf /scratch/$USER/run
