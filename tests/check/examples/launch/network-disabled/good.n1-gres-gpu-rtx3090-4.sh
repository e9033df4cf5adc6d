#!/bin/bash
#SBATCH -N1 --gres=gpu:rtx3090:4
export NCCL_P2P_DISABLE=1
srun python train.py
