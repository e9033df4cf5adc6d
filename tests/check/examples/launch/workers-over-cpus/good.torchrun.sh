#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=1 --cpus-per-task=32 --gpus-per-node=4 --time=10
srun torchrun --standalone --nproc_per_node=4 train.py --num_workers=8
