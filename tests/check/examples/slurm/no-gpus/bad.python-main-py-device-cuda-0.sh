#!/bin/bash
#SBATCH --gres=gpu:0
python main.py --device cuda:0
