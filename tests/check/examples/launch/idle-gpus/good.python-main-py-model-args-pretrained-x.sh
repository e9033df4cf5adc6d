#!/bin/bash
#SBATCH -N1 --gpus-per-node=8
python main.py --model_args pretrained=x,use_accelerate=True
