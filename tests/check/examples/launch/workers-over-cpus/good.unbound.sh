#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=2 --time=10
srun --cpu-bind=none python train.py --num_workers 8
