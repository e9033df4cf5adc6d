#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --gpus=1
conda create -y -n x pytorch=1.13.1 python=3.10
