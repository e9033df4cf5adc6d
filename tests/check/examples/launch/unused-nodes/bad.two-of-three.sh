#!/bin/bash
#SBATCH -N 3 -n 3 --gres=gpu:1
srun -N2 -n2 python train.py
