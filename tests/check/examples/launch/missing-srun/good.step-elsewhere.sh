#!/bin/bash
#SBATCH --nodes=2 --gpus-per-node=4 --time=10
if [ $MULTI ]; then srun torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$H:$P a.py; else torchrun --nnodes=2 a.py; fi
