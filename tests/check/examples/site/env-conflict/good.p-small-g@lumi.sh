#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g
#SBATCH --gpus-per-node=8
export ROCR_VISIBLE_DEVICES=0,1
srun python train.py
