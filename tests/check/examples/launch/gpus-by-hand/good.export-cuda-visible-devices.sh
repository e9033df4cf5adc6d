#!/bin/bash
#SBATCH -N1 --gpus-per-node=4
export CUDA_VISIBLE_DEVICES=
python prepare.py
