#!/bin/bash
#SBATCH --time=10
read -r -p "Epochs: " epochs < epochs.txt
python train.py --epochs $epochs
