#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --cpus-per-task=12 --gres=gpu:4
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
srun torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$HOSTNAME:29500 train.py
