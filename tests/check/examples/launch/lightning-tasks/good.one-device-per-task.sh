#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --gpus-per-node=1 --time=10
srun python train.py --devices=1 --num_nodes=2
