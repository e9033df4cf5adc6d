#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun torchrun --nnodes=2 --rdzv_backend=c10d --rdzv_endpoint=$M:$P --node_rank=$SLURM_NODEID train.py
