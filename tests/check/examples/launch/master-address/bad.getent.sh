#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4 --gpus-per-node=4 --time=10
export JAX_COORDINATOR_IP=$(getent hosts "$(hostname)" | awk '{print $1; exit}')
srun python train.py
