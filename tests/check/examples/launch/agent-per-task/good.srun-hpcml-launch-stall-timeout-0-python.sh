#!/bin/bash
#SBATCH -N2 --ntasks-per-node=4 --gpus-per-node=4
srun hpcml launch --stall-timeout 0 -- python train.py
