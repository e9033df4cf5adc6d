#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=1 --gpus-per-node=a100:4
#SBATCH --mem=64G
accelerate launch --num_processes=4 train.py
