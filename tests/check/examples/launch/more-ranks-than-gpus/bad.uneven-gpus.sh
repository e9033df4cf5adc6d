#!/bin/bash
#SBATCH --nodes=2 --ntasks=8 --gpus=7 --time=10
export MASTER_ADDR=$H
srun python train.py
