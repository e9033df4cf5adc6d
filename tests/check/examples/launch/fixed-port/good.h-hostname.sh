#!/bin/bash
#SBATCH --nodes=2
H=$(hostname)
srun torchrun --nnodes=2 --rdzv_backend=c10d --rdzv_endpoint $H:${PORT:-2} train.py
