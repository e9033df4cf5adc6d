#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=8
srun --ntasks=$SLURM_NNODES --ntasks-per-node=1 torchrun --nproc_per_node=8 --nnodes=2 --rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py
