#!/bin/bash
#SBATCH --ntasks=1 --mem=20G --time=10
#SBATCH --gpus-per-node=h100_1g.10gb:1
export MASTER_ADDR=$(hostname)
srun python train_ddp.py
