#!/bin/bash
#SBATCH --nodes=1
python train.py
