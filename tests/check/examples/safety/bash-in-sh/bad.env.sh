#!/usr/bin/sh
#SBATCH --nodes=1
source ~/venv/bin/activate
python train.py
