#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
export PET_MASTER_ADDR=$(hostname)
srun bash -c 'torchrun --nnodes=2 --node_rank=$SLURM_NODEID train.py'
