#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
if [ -n "$DEBUG" ]; then PREFIX="NCCL_DEBUG_FILE=log-\$SLURM_PROCID"; fi
srun bash -c "$PREFIX python train.py"
