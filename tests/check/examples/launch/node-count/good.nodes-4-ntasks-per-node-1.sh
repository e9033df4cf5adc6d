#!/bin/bash
#SBATCH --nodes=4 --ntasks-per-node=1
srun torchrun --nnodes=1:4 --rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py
