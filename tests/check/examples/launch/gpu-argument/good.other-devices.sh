#!/bin/bash
#SBATCH --nodes=1 --gpus-per-node=2 --time=10
python train.py --devices 50 --epochs 3
