#!/bin/bash
#SBATCH --array=1-3 --output=%A_%a.log
torchrun --standalone --nproc_per_node=4 train.py --lr 0.1
