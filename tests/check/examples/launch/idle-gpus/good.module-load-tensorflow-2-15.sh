#!/bin/bash
#SBATCH -N1 --gpus-per-node=4
module load tensorflow/2.15
srun python train.py
