#!/bin/bash
#SBATCH --time=10
bash -l
python train.py
