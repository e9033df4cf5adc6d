#!/bin/bash
#SBATCH --time=10
export MASTER_ADDRESS=node1
srun python train.py
