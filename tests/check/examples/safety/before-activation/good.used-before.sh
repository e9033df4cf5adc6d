#!/bin/bash
#SBATCH --time=10
pip install pandas
python prepare.py
source ~/venv/bin/activate
python train.py
