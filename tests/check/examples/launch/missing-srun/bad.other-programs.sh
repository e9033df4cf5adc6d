#!/bin/bash
#SBATCH --nodes=2 --gpus-per-node=4 --time=10
exec > >(tee log.txt) 2>&1
git rev-parse HEAD
./prepare --all
NNODES=${SLURM_NNODES}
torchrun --nnodes=$NNODES --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py
