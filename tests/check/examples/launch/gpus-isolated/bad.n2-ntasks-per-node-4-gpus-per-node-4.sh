#!/bin/bash
#SBATCH -N2 --ntasks-per-node=4 --gpus-per-node=4
srun --gpu-bind=single:1 python train.py
