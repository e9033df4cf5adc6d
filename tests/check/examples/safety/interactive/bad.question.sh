#!/bin/bash
#SBATCH --time=10
read -p "Epochs: " epochs
python train.py --epochs $epochs
