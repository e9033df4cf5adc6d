#!/bin/bash
#SBATCH --nodes=16 --ntasks-per-node=1 --cpus-per-task=40 --hint=nomultithread
#SBATCH --gres=gpu:4 --time=20:00:00 --account=abc@v100
export MASTER_PORT=6000
srun python train.py
