#!/bin/bash
#SBATCH -t 10
srun -ntasks=4 python train.py
