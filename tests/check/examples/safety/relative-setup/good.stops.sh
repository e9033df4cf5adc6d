#!/bin/bash
#SBATCH --time=10
set -e
cd train_sdf
python test.py
