#!/bin/bash
#SBATCH -N2
export NCCL_IB_DISABLE=1 # our cluster has no InfiniBand
srun python train.py
