#!/bin/bash
#SBATCH -N1 --ntasks-per-node=4 --gpus-per-node=2
export MASTER_ADDR=$(hostname)
srun python train.py --backend gloo
