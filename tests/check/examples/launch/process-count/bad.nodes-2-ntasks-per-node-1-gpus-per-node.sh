#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --gpus-per-node=4
srun accelerate launch --num_machines=2 --num_processes=16 --rdzv_backend=c10d train.py
