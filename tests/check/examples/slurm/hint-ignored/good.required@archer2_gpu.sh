#!/bin/bash
#SBATCH --account=e01 --partition=gpu --qos=gpu-shd --gpus=1 --time=10
srun --ntasks=1 --hint=nomultithread --cpu-bind=cores python train.py
