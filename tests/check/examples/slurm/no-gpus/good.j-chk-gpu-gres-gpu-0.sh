#!/bin/bash
#SBATCH -J chk_gpu --gres=gpu:0
set -e
srun nvidia-smi
rm x.out
