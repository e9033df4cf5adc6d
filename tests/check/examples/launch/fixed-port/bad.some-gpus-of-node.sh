#!/bin/bash
#SBATCH --nodes=4 --ntasks=4 --gpus-per-task=4 --cpus-per-task=48
srun torchrun --nnodes=4 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint "$H:29500" train.py
