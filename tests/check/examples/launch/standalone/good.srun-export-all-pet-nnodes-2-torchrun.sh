#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun --export=ALL,PET_NNODES=2 torchrun --rdzv_backend=c10d --rdzv_endpoint=$H:$P --nproc_per_node=4 train.py
