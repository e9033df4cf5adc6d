#!/bin/bash
#SBATCH --nodes=2 --exclusive
export MASTER_PORT=29500
srun python train.py
