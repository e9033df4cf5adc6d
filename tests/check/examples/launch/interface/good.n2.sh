#!/bin/bash
#SBATCH -N2
export NCCL_SOCKET_IFNAME=ib0
srun python train.py
