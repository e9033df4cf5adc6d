#!/bin/bash
#SBATCH --nodes=1 --gpus-per-node=4 --time=10
export NCCL_DEBUG_FILE=/tmp/nccl.txt
torchrun --standalone --nproc_per_node=4 train.py
