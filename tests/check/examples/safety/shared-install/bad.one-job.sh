#!/bin/bash
#SBATCH --time=10
source env/bin/activate
pip install -r requirements.txt
python train.py
