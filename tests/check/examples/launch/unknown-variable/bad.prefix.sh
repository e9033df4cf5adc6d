#!/bin/bash
#SBATCH --time=10
export TORCH_CUDA_ALLOC_CONF=expandable_segments:True
srun python train.py
