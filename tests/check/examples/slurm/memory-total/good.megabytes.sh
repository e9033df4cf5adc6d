#!/bin/bash
#SBATCH --gres=gpu:1 --mem=4000 -c 8
python train.py
