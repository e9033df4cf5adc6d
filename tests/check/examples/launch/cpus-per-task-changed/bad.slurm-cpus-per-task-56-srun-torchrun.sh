#!/bin/bash
#SBATCH --ntasks=1 -c 7
SLURM_CPUS_PER_TASK=56 srun torchrun --nproc_per_node=8 train.py
