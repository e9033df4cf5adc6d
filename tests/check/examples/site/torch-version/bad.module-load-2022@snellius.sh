#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --gpus=1
module load 2022
module load PyTorch/1.12.0-foss-2022a-CUDA-11.7.0
srun python train.py
