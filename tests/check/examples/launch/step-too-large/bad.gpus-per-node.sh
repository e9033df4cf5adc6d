#!/bin/bash
#SBATCH --nodes=2 --gpus-per-node=a100:2
srun --gpus-per-node=4 python train.py
