#!/bin/bash
#SBATCH -N2 --ntasks-per-node=1 --gpus-per-node=4
srun hpcml launch --nproc-per-node 4 --log-dir logs -- python train.py
