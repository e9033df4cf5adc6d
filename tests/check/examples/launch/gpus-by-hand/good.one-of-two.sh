#!/bin/bash
#SBATCH --gres=gpu:2
CUDA_VISIBLE_DEVICES=0 python a.py
CUDA_VISIBLE_DEVICES=1 python b.py
