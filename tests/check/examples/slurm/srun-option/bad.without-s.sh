#!/bin/bash
#SBATCH -t 10
srun --cpu-per-task=4 python train.py
