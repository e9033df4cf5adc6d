#!/bin/bash
#SBATCH -N2 --ntasks-per-node=4 --gpus-per-node=4
srun torchrun --nnodes=$SLURM_NNODES --nproc_per_node=$GPUS --rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py
