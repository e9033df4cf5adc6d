#!/bin/bash
#SBATCH -t 60 -n 4
srun --time=10:00 --mem=4G --cpu-bind=verbose,cores --gpus-per-task=1 -N 1-2 python train.py
