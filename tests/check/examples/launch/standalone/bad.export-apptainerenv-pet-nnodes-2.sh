#!/bin/bash
#SBATCH -N2 --ntasks-per-node=1
export APPTAINERENV_PET_NNODES=2
srun torchrun --nproc_per_node=4 train.py
