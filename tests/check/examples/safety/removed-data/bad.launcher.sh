#!/bin/bash
#SBATCH --time=10
rm -rf ./set/
torchrun --standalone train.py --dataset ./set
