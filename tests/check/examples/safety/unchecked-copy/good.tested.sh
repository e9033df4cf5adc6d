#!/bin/bash
#SBATCH --time=10
python train.py
rsync -a /scratch/$USER/run/ $HOME/results/
if [ $? -eq 0 ]; then
  rm -rf /scratch/$USER/run
fi
