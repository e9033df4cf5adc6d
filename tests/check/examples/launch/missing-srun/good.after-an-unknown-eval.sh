#!/bin/bash
#SBATCH --nodes=2 --gpus-per-node=4
eval "$SETUP"
python -u main.py
