#!/bin/bash
#SBATCH --nodes=1 --gpus=7 --time=10
srun python train.py
