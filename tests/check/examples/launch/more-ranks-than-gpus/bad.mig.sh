#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=2 --cpus-per-task=2 --mem=20G --time=10
#SBATCH --gpus-per-node=h100_1g.10gb:2
export MASTER_ADDR=$(hostname)
srun --cpus-per-task=2 python train_ddp.py
