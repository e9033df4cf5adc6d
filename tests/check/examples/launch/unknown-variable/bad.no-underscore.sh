#!/bin/bash
#SBATCH --time=10
export CUDA_VISIBLEDEVICES=0
srun python train.py
