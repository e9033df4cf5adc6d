#!/bin/bash
#SBATCH -p standard-g -N2
export GLOO_SOCKET_IFNAME=eth0
srun python train.py
