#!/bin/bash
#SBATCH --nodes=16 --ntasks-per-node=2 --cpus-per-task=10 --hint=nomultithread
#SBATCH --gres=gpu:2 --time=20:00:00 --account=abc@v100
export MASTER_PORT=6000
srun python train.py
