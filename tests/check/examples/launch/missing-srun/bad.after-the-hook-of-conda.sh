#!/bin/bash
#SBATCH --nodes=2 --gpus-per-node=4
eval "$(conda shell.bash hook)"
conda activate x
python -u main.py
