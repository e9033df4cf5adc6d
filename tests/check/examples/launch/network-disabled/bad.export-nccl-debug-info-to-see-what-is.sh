#!/bin/bash
#SBATCH -N2
# export NCCL_DEBUG=INFO to see what is wrong here
export NCCL_IB_DISABLE=1
srun python train.py
