#!/bin/bash
#SBATCH --gres=gpu:1 --mem=64 -c 8
python train.py
