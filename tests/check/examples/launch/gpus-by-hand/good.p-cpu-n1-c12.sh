#!/bin/bash
#SBATCH -p cpu -N1 -c12
export CUDA_VISIBLE_DEVICES=0,1,2
python main.py
