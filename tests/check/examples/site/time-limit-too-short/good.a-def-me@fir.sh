#!/bin/bash
#SBATCH -A def-me
#SBATCH --gpus-per-node=h100:1
#SBATCH -t 60
srun true
