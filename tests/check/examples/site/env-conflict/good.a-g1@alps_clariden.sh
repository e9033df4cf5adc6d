#!/bin/bash
#SBATCH -A g1
#SBATCH -N1
#SBATCH -t 10
#SBATCH -p normal
export MPICH_GPU_SUPPORT_ENABLED=0
export NCCL_NET="AWS Libfabric"
srun python train.py
