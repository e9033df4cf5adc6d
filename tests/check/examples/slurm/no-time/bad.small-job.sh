#!/bin/bash
#SBATCH --cpus-per-task=4
python train.py
