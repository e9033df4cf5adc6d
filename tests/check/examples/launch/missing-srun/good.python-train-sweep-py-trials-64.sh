#!/bin/bash
#SBATCH -N 4 --gpus-per-node=4
python train_sweep.py --trials 64
