#!/bin/bash
#SBATCH --time=10
OMP_NUM_THREAD=8 python train.py
