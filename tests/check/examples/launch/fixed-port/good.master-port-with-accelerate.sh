#!/bin/bash
#SBATCH --nodes=1 --gpus-per-node=4
export MASTER_PORT=29501
accelerate launch --multi_gpu --num_processes 4 train.py
