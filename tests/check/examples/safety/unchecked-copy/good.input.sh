#!/bin/bash
#SBATCH --time=10
cp -r $HOME/data /scratch/$USER/run
python train.py --data_dir /scratch/$USER/run
cp -r output $HOME/results
rm -rf /scratch/$USER/run
