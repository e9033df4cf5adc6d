#!/bin/bash
#SBATCH -p gpu
#SBATCH -t 10
#SBATCH --qos=normal
#SBATCH --gpus=1
srun true
