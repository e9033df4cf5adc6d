#!/bin/bash
#SBATCH -N 4 --gpus-per-node=4
python -u src/tune.py
