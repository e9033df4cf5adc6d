#!/bin/bash
#SBATCH --time=10
conda install -y numpy
python train.py
