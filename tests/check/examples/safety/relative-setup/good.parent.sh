#!/bin/bash
#SBATCH --time=10
cd ..
python train.py
