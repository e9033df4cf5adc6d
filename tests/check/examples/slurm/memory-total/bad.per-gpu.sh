#!/bin/bash
#SBATCH --nodes=1 --gpus-per-node=8 --mem-per-gpu=480G
srun python train.py
