#!/bin/bash
#SBATCH -N4 --ntasks-per-node=8 --gpus-per-task=1 --cpus-per-task=10 --mem-per-cpu=5G
srun python train.py
