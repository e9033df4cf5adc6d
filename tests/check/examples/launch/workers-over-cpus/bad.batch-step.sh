#!/bin/bash
#SBATCH --cpus-per-task=4 --gres=gpu:1 --time=10
python train.py --num-workers 16
