#!/bin/bash
#SBATCH -t 60
srun --time=1h python train.py
