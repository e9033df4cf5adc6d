#!/bin/bash
#SBATCH --time=10
export NCCL_NVLS_ENABLE=0
srun python train.py
