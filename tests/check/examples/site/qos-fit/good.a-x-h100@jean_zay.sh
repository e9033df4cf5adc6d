#!/bin/bash
#SBATCH -A x@h100
#SBATCH -t 10
#SBATCH -p gpu_p6
#SBATCH -C h100
#SBATCH --qos=qos_gpu_h100-dev
#SBATCH --gres=gpu:1
#SBATCH --hint=nomultithread
srun true
