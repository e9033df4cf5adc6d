#!/bin/bash
#SBATCH -N1 --ntasks-per-node=1 --gpus-per-node=2
srun hpcml launch --nproc-per-node 2 -- python train.py
