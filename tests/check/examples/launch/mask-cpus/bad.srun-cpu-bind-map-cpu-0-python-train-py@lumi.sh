#!/bin/bash
#SBATCH -p standard-g -N1 -n1 --gpus-per-node=8 -A project_465000001 -t 10
srun --cpu-bind=map_cpu:0 python train.py
