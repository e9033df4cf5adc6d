#!/bin/bash
#SBATCH --time=10
module load pytorch/2.3.0
export PYTORCH_ALLOC_CONF=expandable_segments:True
srun python train.py
