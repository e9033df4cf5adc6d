#!/bin/bash
#SBATCH -N1 --gpus-per-node=4
export NCCL_P2P_DISABLE=1
torchrun --standalone --nproc_per_node=4 train.py
