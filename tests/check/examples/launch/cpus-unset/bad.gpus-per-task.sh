#!/bin/bash
#SBATCH --ntasks=1 --gpus-per-task=1
python train.py
