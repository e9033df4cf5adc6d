#!/bin/bash
#SBATCH --ntasks=1 --gpus=1 --time=10
export NCCL_DEBUG_FILE=/tmp/nccl.txt
srun python train.py
