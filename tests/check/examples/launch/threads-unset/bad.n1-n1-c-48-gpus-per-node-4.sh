#!/bin/bash
#SBATCH -N1 -n1 -c 48 --gpus-per-node=4
torchrun --standalone --nproc_per_node=$SLURM_GPUS_ON_NODE train.py
