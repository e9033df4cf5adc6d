#!/bin/bash
#SBATCH --nodes=2 --gres=gpu:{gpus} --time=1:00:00
export CUDA_VISIBLE_DEVICES=0,1,2,3
srun --cpu-bind=none python train.py
