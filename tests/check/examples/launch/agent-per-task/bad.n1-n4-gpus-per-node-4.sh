#!/bin/bash
#SBATCH -N1 -n4 --gpus-per-node=4
srun accelerate launch --num_processes 4 train.py
