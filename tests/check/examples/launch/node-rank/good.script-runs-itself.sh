#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --gpus-per-node=4 --time=10
[ -n "$SLURM_STEP_ID" ] || exec srun bash "$0"
torchrun --nnodes=2 --nproc_per_node=4 --node_rank=$SLURM_NODEID --master_addr=$M --master_port=$P train.py
