#!/bin/bash
#SBATCH --nodes=1 --gres=gpu:1 --time=10
port=6379
ray start --head --port=$port --num-gpus=1
python train.py
