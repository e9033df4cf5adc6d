#!/bin/bash
#SBATCH --nodes=2 --gpus-per-node=4 --time=10
monitor() { ./gpu-monitor > gpus.txt; }
monitor &
train() { time torchrun --nnodes=$SLURM_NNODES --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py; }
train &
wait $!
