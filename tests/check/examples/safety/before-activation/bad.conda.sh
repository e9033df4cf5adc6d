#!/bin/bash
#SBATCH --time=10
source /opt/conda/etc/profile.d/conda.sh
pip install -r requirements.txt
conda activate torch
python train.py
