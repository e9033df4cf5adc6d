#!/bin/bash
#SBATCH -A me
#SBATCH -t 60
#SBATCH --gpus-per-node=h100:1
srun true
