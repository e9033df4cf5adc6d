#!/bin/bash
#SBATCH --time=10
conda activate tools
pip install einops
conda activate torch
python train.py
