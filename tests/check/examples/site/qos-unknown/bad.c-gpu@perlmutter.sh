#!/bin/bash
#SBATCH -A x
#SBATCH -C gpu
#SBATCH -t 10
#SBATCH -q regulr
#SBATCH --gpus-per-node=4
srun true
