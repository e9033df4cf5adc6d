#!/bin/bash
#SBATCH -A def-me
#SBATCH -t 60
#SBATCH --gpus-per-node=h100:4
srun true
