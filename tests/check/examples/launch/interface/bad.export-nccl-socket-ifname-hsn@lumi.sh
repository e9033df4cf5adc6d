#!/bin/bash
#SBATCH -p standard-g -N2
export NCCL_SOCKET_IFNAME==hsn
srun python train.py
