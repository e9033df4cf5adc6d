#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=8 --gpus-per-node=4 --time=10
module load jax
srun python train.py
