#!/bin/bash
#SBATCH -N1 --gpus-per-node=8 -c 96 --mem-per-cpu=16G
python train.py
