#!/bin/bash
#SBATCH -N1 --gres=gpu:8
python train_raytune.py
