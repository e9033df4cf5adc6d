#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun bash -c 'torchrun --nnodes=2 --node_rank=$SLURM_NODEID --master_addr=$MASTER_ADDR train.py'
