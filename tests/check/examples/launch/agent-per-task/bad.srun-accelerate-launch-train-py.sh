#!/bin/bash
#SBATCH -N1 --ntasks-per-node=4 --gpus-per-node=4
srun accelerate launch train.py
