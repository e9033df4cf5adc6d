#!/bin/bash
#SBATCH --time=10
python train.py
scp -r /scratch/$USER/run login1:/data/
rm -rf /scratch/$USER/run
