#!/bin/bash
#SBATCH --nodes=1 --exclusive --gres=gpu:1 --time=10
python main.py --gpus 4
