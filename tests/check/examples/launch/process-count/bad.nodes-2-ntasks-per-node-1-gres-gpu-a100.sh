#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --gres=gpu:a100:4
srun torchrun --nnodes=2 --nproc-per-node 8 --rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py
