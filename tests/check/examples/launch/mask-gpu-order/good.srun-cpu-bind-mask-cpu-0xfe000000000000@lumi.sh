#!/bin/bash
#SBATCH -p standard-g -N1 --ntasks-per-node=8 --gpus-per-node=8 -A project_465000001 -t 10
srun --cpu-bind=mask_cpu:0xfe000000000000,0xfe00000000000000,0xfe0000,0xfe000000,0xfe,0xfe00,0xfe00000000,0xfe0000000000 python train.py
