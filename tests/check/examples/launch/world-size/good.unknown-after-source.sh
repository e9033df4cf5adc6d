#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4 --time=10
export WORLD_SIZE=2
source cluster.sh
srun python train.py
