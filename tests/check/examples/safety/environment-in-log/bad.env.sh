#!/bin/bash
#SBATCH --time=10
env
python train.py
