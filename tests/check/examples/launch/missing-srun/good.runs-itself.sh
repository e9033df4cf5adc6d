#!/bin/bash
#SBATCH --nodes=2 --gpus-per-node=4 --time=10
if [ -z "$SLURM_STEP_ID" ]; then exec srun bash "$0"; fi
torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py
