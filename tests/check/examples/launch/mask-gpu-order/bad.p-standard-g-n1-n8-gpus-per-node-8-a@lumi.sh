#!/bin/bash
#SBATCH -p standard-g -N1 -n8 --gpus-per-node=8 -A project_465000001 -t 10
M=mask_cpu:0xfe000000000000,0xfe00000000000000,0xfe0000,0xfe000000,0xfe00,0xfe,0xfe00000000,0xfe0000000000
srun --cpu-bind=$M python train.py
