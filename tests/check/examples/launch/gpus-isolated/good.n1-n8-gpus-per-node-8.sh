#!/bin/bash
#SBATCH -N1 -n8 --gpus-per-node=8
module load rocm/6.2
srun --gpu-bind=closest python train.py
