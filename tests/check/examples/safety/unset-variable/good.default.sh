#!/bin/bash
#SBATCH --time=10
python train.py --ratio ${ratio:-0.5}
