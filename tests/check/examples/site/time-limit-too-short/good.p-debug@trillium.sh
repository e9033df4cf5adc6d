#!/bin/bash
#SBATCH -A me
#SBATCH --gpus-per-node=4
#SBATCH -p debug
#SBATCH -t 5
srun true
