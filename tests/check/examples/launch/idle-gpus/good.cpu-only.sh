#!/bin/bash
#SBATCH -N1 --gres=gpu:4
CUDA_VISIBLE_DEVICES="" python merge_lora.py
CUDA_VISIBLE_DEVICES="" python train.py
