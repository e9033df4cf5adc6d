#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
export MASTER_ADDR=$(hostname -i)
srun python train.py
