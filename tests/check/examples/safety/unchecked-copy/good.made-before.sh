#!/bin/bash
#SBATCH --time=10
mv $HOME/old /scratch/$USER/
rm -rf $HOME/old
python train.py
