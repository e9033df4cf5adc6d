#!/bin/bash
#SBATCH --time=10
#SBATCH -o /dev/null
#SBATCH -e /dev/null
python train.py
