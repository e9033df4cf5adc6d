#!/bin/bash
#SBATCH -A abc@h100
#SBATCH -t 60
#SBATCH -p gpu_p6
#SBATCH -C h100
#SBATCH --gres=gpu:1
#SBATCH --hint=nomultithread
srun true
