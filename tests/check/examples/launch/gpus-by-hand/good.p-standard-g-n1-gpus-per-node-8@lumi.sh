#!/bin/bash
#SBATCH -p standard-g -N1 --gpus-per-node=8
export CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7
srun python train.py
