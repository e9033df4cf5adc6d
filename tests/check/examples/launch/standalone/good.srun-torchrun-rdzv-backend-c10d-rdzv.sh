#!/bin/bash
#SBATCH --nodes=2
srun torchrun --rdzv_backend=c10d --rdzv_endpoint=$H:$P --nnodes=2 --nproc_per_node=4 train.py
