#!/bin/bash
#SBATCH --time=10
export NCCL_SOCKET_IFNAMES=ib0
srun python train.py
