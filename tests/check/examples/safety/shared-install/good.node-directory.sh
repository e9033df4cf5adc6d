#!/bin/bash
#SBATCH --time=10
cd $TMPDIR
python3 -m venv venv
source venv/bin/activate
pip install torch
python train.py
