#!/bin/bash
#SBATCH -p small-g -N1 --gpus-per-node=2
export CUDA_VISIBLE_DEVICES=0,1
srun python train.py
