#!/bin/bash
#SBATCH --nodes=2
srun bash -c 'torchrun --nnodes=2 --rdzv_backend=c10d --rdzv_id=1 --rdzv_endpoint=$(hostname):$P train.py'
