#!/bin/bash
#SBATCH --nodes=2 --gres=gpu:4
torchrun --nproc_per_node=${SLURM_GPUS_PER_NODE} train.py
