#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=8 --gpus-per-node=8 --time=10
export NCCL_DEBUG=INFO
export NCCL_DEBUG_FILE=logs/nccl-$SLURM_JOB_ID.log
srun python train.py
