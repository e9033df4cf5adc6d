#!/bin/bash
#SBATCH --time=10
if [ $# -lt 1 ]; then exit 1; fi
python train.py "$1"
