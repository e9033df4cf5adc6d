#!/bin/bash
#SBATCH --time=10
export MASTER_ADDRESS=$(hostname)
srun python train.py --addr $MASTER_ADDRESS
