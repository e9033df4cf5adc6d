#!/bin/bash
#SBATCH -N1 --gres=gpu:8
NCCL_SHM_DISABLE=1 srun python train.py
