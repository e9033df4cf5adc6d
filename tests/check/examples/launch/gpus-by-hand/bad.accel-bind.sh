#!/bin/bash
#SBATCH --nodes=2 --gres=gpu:4 --ntasks-per-node=4 --time=10
export CUDA_VISIBLE_DEVICES=0,1,2,3
srun --accel-bind=gn python train.py
