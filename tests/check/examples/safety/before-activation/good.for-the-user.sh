#!/bin/bash
#SBATCH --time=10
pip install --user einops
source ~/venv/bin/activate
python train.py
