#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --gpus-per-node=4 --time=10
srun accelerate launch --num_processes $((SLURM_NNODES * 4)) --num_machines 2 train.py
