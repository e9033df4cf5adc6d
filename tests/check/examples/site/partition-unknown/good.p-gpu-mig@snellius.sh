#!/bin/bash
#SBATCH -p gpu_mig
#SBATCH --gpus=1
#SBATCH -t 5
srun true
