#!/bin/bash
#SBATCH -p small-g -N1 -n1 --gpus-per-node=1 -A project_465000001 -t 10
srun --cpu-bind=mask_cpu:0xfe000000000000 python train.py
