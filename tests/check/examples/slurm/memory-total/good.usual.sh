#!/bin/bash
#SBATCH --gres=gpu:1 --mem-per-cpu=8G -c 8
python train.py
