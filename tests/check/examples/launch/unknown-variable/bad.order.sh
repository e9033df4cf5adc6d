#!/bin/bash
#SBATCH --time=10
export NCCL_DISABLE_P2P=1
srun python train.py
