#!/bin/bash
#SBATCH --time=10
#SBATCH --nodes=2
master_addr=$(scontrol show hostnames | head -n1)
srun python train.py
