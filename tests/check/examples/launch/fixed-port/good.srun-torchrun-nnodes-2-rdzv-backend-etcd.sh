#!/bin/bash
#SBATCH --nodes=2
srun torchrun --nnodes=2 --rdzv_backend=etcd-v2 --rdzv_endpoint=etcd.example.org:2379 train.py
