#!/bin/bash
#SBATCH -N 1 -n 1 --gpus=2
python train.py --gpu_ids 0,1
