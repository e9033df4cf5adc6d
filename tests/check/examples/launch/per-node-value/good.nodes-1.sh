#!/bin/bash
#SBATCH --nodes=1
srun bash -c 'torchrun --rdzv_backend=c10d --rdzv_id=$RANDOM --rdzv_endpoint=$(hostname):$P train.py'
