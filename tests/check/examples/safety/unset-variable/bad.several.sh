#!/bin/bash
#SBATCH --time=10
python train.py --scene $scene --split $split
