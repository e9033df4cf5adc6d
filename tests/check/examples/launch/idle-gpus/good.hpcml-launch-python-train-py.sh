#!/bin/bash
#SBATCH -N1 --gpus-per-node=4
hpcml launch -- python train.py
