#!/bin/bash
#SBATCH -N1 --gpus-per-node=2
CUDA_VISIBLE_DEVICES=0 python a.py &
CUDA_VISIBLE_DEVICES=1 python b.py &
wait
