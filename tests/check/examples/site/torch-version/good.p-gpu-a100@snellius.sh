#!/bin/bash
#SBATCH -p gpu_a100
#SBATCH -t 10
#SBATCH --gpus=1
module load PyTorch/1.12.0-foss-2022a-CUDA-11.7.0
