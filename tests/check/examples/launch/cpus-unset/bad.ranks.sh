#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4 --gpus-per-task=1
srun python train.py
