#!/bin/bash
#SBATCH --signal=USR1@120
python train.py
