#!/bin/bash
#SBATCH -N1 --mem=64G --time=10
srun --mem=128G python train.py
