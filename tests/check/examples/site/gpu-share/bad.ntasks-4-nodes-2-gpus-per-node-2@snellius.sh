#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --ntasks=4 --nodes=2 --gpus-per-node=2
#SBATCH --cpus-per-task=4
srun true
