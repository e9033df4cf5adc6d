#!/bin/bash
#SBATCH --nodes=2
export LAUNCHER="torchrun --nnodes=2 --rdzv_backend c10d --rdzv_endpoint $H:6000"
srun bash -c '$LAUNCHER train.py'
