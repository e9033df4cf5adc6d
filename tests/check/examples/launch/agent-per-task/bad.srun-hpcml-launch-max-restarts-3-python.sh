#!/bin/bash
#SBATCH -N2 --ntasks-per-node=4 --gpus-per-node=4
srun hpcml launch --max-restarts 3 -- python train.py
