#!/bin/bash
#SBATCH -A me
#SBATCH --gpus-per-node=1
#SBATCH -t 00:10:00
srun true
