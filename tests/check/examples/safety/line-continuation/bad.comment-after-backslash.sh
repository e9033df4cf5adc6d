#!/bin/bash
#SBATCH --time=10
torchrun --standalone \ # one node
    --nproc_per_node=4 train.py
