#!/bin/bash
#SBATCH --nodes=2
srun torchrun --nnodes=2 --rdzv_backend=c10d --rdzv_endpoint "$H:29400" train.py
