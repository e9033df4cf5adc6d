#!/bin/bash
#SBATCH --time=10
source preamble.sh
python train.py
