#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --cpus-per-task=32 --gpus-per-node=4 --time=10
export OMP_NUM_THREADS=16
srun -c32 torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_id=a --rdzv_endpoint=$H:0 train.py
