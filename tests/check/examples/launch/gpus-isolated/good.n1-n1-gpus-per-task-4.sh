#!/bin/bash
#SBATCH -N1 -n1 --gpus-per-task=4
srun python train.py
