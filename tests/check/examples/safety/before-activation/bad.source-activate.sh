#!/bin/bash
#SBATCH --time=10
module load anaconda3
pip3 install einops
source activate torch
python train.py
