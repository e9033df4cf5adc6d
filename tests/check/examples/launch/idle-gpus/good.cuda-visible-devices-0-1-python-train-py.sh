#!/bin/bash
#SBATCH -N1 --gres=gpu:2
CUDA_VISIBLE_DEVICES=0,1 python train.py
