#!/bin/bash
#SBATCH -N2 --ntasks-per-node=4 --gpus-per-node=4
srun --ntasks=2 --ntasks-per-node=1 hpcml launch --nproc-per-node 4 --log-dir logs -- python train.py
