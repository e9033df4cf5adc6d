#!/bin/bash
#SBATCH --ntasks=1
torchrun --nproc_per_node=8 --rdzv_backend=c10d --rdzv_endpoint=$H:29500 --master_addr=$H --master_port=29500 train.py
