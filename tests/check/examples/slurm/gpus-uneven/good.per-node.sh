#!/bin/bash
#SBATCH --nodes=2 --gpus-per-node=7 --time=10
srun python train.py
