#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun env PET_NNODES=$SLURM_NNODES torchrun --rdzv_backend=c10d --rdzv_endpoint=$H:$P --nproc_per_node=4 train.py
