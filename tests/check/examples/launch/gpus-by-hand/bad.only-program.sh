#!/bin/bash
#SBATCH --gres=gpu:1
CUDA_VISIBLE_DEVICES=0,1 python test.py
