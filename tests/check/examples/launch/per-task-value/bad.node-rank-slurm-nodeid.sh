#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
NODE_RANK=$SLURM_NODEID
srun torchrun --nnodes=2 --node_rank=$NODE_RANK --master_addr=$M train.py
