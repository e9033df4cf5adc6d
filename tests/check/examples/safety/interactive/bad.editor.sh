#!/bin/bash
#SBATCH --time=10
python train.py
vim results.txt
