#!/bin/bash
#SBATCH --time=10
awk '{print $1}' nodes.txt
python train.py
