#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --ntasks=16 --nodes=4 --gpus-per-node=4
#SBATCH --cpus-per-task=16
srun true
