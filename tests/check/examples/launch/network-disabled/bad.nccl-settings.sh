#!/bin/bash
#SBATCH -N2
# NCCL settings
export NCCL_IB_DISABLE=1
srun python train.py
