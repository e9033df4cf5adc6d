#!/bin/bash
#SBATCH -A aip-me
#SBATCH -t 60
#SBATCH --gpus-per-node=h100:2
srun true
