#!/bin/bash
#SBATCH -N1 --mem=64G --time=10
srun --mem=32G python train.py
