#!/bin/bash
#SBATCH --time=10
#SBATCH --nodes=2
export MASTER_ADDR=$(scontrol show hostnames | head -n1)
srun python train.py
