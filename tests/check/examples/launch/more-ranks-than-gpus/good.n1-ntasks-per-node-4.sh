#!/bin/bash
#SBATCH -N1 --ntasks-per-node=4
export MASTER_ADDR=$(hostname)
srun python train.py
