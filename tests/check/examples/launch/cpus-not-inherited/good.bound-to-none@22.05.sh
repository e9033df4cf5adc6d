#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=1 --cpus-per-task=8 --time=10
export SLURM_CPU_BIND=none
srun torchrun --standalone --nproc_per_node=2 train.py
