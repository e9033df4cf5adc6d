#!/bin/bash
#SBATCH --gpus-per-node=0
srun python train.py
