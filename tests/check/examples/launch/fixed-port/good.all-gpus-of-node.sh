#!/bin/bash
#SBATCH --nodes=4 --ntasks=4 --gpus-per-task=8 --cpus-per-task=96
srun torchrun --nnodes=4 --nproc_per_node=8 --rdzv_backend=c10d --rdzv_endpoint "$H:29500" train.py
