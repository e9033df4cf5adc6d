#!/bin/bash
#SBATCH -A me
#SBATCH --gpus-per-node=h100:4
#SBATCH -t UNLIMITED
srun true
