#!/bin/bash
#SBATCH --time=10
CODE_DIR=/scratch/me/code
cd CODE_DIR
python train.py
