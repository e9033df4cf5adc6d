#!/bin/bash
#SBATCH -N1 --gres=gpu:4
uv run train.py --lr 1
