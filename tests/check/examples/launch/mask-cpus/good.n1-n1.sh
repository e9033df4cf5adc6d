#!/bin/bash
#SBATCH -N1 -n1
srun --cpu-bind=map_cpu:200 python train.py
