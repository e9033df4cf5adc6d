#!/bin/bash
#SBATCH -N1 -n2
BIND=map_cpu:0,8
# srun --cpu-bind=$BIND
srun python train.py
