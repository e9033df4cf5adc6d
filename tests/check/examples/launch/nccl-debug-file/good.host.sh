#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4 --time=10
export NCCL_DEBUG_FILE=/tmp/nccl.%h.%p
srun python train.py
