#!/bin/bash
#SBATCH --time=10
srun python train.py \
    --epochs 10 \

    --resume
