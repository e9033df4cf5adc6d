#!/bin/bash
#SBATCH --ntasks=4
export MASTER_PORT=${MASTER_PORT:-29500}
srun python train.py
