#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
if [ -n "$X" ]; then ARGS='--nnodes=2 --node_rank=$SLURM_NODEID --master_addr=a'; fi
srun bash -c "torchrun $ARGS train.py"
