#!/bin/bash
#SBATCH -N2
export NCCL_IB_DISABLE=0
srun python train.py
