#!/bin/bash
#SBATCH -N1 --mem=0 --time=10
srun --mem=128G python train.py
