#!/bin/bash
#SBATCH -N1 --gres=gpu:1
export CUDA_VISIBLE_DEVICES=6
python train.py
