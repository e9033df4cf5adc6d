#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend c10d --master_addr $MASTER_ADDR train.py
