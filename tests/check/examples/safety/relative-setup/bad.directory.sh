#!/bin/bash
#SBATCH --time=10
cd train_sdf
python test.py
