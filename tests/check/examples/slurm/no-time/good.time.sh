#!/bin/bash
#SBATCH --gres=gpu:1 --cpus-per-task=4 -t 10
python train.py
