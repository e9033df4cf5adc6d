#!/bin/bash
#SBATCH --nodes=1 --gres=gpu:1 --time=10
python train.py --device cuda:1
