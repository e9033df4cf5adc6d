#!/bin/bash
#SBATCH -N4
srun bash -c 'torchrun --standalone --nnodes=4 --nproc_per_node=4 train.py'
