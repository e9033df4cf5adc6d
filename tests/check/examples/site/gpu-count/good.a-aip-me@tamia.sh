#!/bin/bash
#SBATCH -A aip-me
#SBATCH -t 60
#SBATCH --gpus-per-node=h100:4
#SBATCH -N2
srun true
