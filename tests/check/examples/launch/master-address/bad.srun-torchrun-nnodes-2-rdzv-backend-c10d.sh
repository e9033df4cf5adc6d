#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun torchrun --nnodes=2 --rdzv_backend=c10d --rdzv_endpoint=127.0.0.1:$P train.py
