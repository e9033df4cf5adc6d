#!/bin/bash
#SBATCH --nodes=2 --gpus-per-node=4 --time=10
for h in $(scontrol show hostnames); do ssh $h "torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py" & done
wait
