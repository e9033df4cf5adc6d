#!/bin/bash
#SBATCH --nodes=2 --cpus-per-task=8
srun hostname
srun --cpu-bind=none python train.py
