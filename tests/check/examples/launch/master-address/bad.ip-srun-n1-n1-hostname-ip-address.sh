#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
IP=$(srun -N1 -n1 hostname --ip-address)
srun torchrun --nnodes 2 --rdzv_backend c10d --rdzv_endpoint $IP:29500 train.py
