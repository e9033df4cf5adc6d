#!/bin/bash
#SBATCH -t 10
srun --cpu-bind=closest python train.py
