#!/bin/bash
#SBATCH -N1 --gpus-per-node=4 --ntasks-per-node=4
srun python train.py
