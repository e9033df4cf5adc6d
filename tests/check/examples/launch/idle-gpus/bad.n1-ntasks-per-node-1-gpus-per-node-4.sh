#!/bin/bash
#SBATCH -N1 --ntasks-per-node=1 --gpus-per-node=4
srun hpcml launch -- python train.py
