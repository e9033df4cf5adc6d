#!/bin/bash
#SBATCH -p gpu_h10
#SBATCH --gpus-per-node=4
#SBATCH -t 5
srun true
