#!/bin/bash
#SBATCH -N1 -n4 --gpus-per-task=1 --gpu-bind=none
srun python train.py
