#!/bin/bash
#SBATCH --nodes=8 --ntasks-per-node=1 --gpus-per-node=4 --time=1:00:00
MASTER_PORT=$(comm -23 <(seq 15000 16000) <(ss -Htan | sort -u) | head -n 1)
torchrun --nnodes=8 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_id=a --rdzv_endpoint=$(hostname):$MASTER_PORT train.py
