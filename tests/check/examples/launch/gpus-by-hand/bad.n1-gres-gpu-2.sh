#!/bin/bash
#SBATCH -N1 --gres=gpu:2
export CUDA_VISIBLE_DEVICES=0,1
torchrun --standalone train.py
