#!/bin/bash
#SBATCH -N2 --ntasks-per-node=1
srun torchrun --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py
