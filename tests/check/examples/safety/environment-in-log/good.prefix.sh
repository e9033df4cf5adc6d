#!/bin/bash
#SBATCH --time=10
env OMP_NUM_THREADS=1 python train.py
