#!/bin/bash
#SBATCH --time=10
source ~/.bashrc
bash
conda activate x
python train.py
