#!/bin/bash
#SBATCH --gres=gpu:1 --cpus-per-task=4
python train.py
