#!/bin/bash
#SBATCH -N2
export GLOO_SOCKET_IFNAME=ib
srun python train.py
