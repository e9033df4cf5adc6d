#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun torchrun --nnodes=$SLURM_NNODES --rdzv_backend=c10d --nproc_per_node=4 train.py
