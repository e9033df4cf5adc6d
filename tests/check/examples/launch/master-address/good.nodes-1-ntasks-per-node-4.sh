#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=4
export MASTER_ADDR=localhost
srun python train.py
