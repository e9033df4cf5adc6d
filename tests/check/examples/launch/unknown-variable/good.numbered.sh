#!/bin/bash
#SBATCH --time=10
export CUDA_HOME_12=/opt/cuda12
srun python train.py
