#!/bin/bash
#SBATCH --nodes=4 --ntasks-per-node=1
N=2
srun torchrun --nnodes=$N --rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py
