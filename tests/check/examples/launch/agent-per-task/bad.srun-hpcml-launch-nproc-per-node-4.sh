#!/bin/bash
#SBATCH -N1 --ntasks-per-node=4 --gpus-per-node=4
srun hpcml launch --nproc-per-node 4 -- python train.py
