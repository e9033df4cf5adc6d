#!/bin/bash
#SBATCH -p standard-g -N2
export NCCL_SOCKET_IFNAME=^docker,lo
srun python train.py
