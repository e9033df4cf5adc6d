#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
export MASTER_ADDR=$(hostname)
srun python train.py
