#!/bin/bash
#SBATCH -N1 --gpus-per-node=8 --ntasks-per-node=8
srun python train.py
