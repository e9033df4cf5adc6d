#!/bin/bash
#SBATCH --nodes=1 --gres=gpu:2 --time=10
python main.py --gpus 1
