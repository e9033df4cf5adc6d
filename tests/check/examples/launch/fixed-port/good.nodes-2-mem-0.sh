#!/bin/bash
#SBATCH --nodes=2 --mem=0
export MASTER_PORT=29500
srun python train.py
