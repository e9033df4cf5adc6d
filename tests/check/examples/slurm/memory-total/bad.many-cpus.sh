#!/bin/bash
#SBATCH --nodes=1 --ntasks=1 --cpus-per-task=128 --mem-per-cpu=16G
python train.py
