#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
torchrun --nnodes=1 --nproc_per_node=4 --master_addr=localhost train.py
