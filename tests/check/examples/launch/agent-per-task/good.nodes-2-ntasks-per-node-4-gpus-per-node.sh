#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4 --gpus-per-node=4
srun torchrun --nproc_per_node=1 --nnodes=$SLURM_NTASKS --rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py
