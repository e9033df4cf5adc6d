#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --gpus-per-node=4
srun -N 1 -n 1 python train.py
