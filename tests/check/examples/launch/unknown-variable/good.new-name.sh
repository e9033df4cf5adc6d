#!/bin/bash
#SBATCH --time=10
export PYTORCH_ALLOC_CONF=expandable_segments:True
srun python train.py
