#!/bin/bash
#SBATCH -p standard-g -N2
export NCCL_SOCKET_IFNAME=hsn0,hsn1,hsn2,hsn3
export GLOO_SOCKET_IFNAME=hsn0
srun python train.py
