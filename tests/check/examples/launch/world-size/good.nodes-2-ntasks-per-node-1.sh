#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
export WORLD_SIZE=8
srun torchrun --nnodes=2 --rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py
