#!/bin/bash
#SBATCH --time=10
export MODEL_CACHE=/scratch/hf
srun python train.py
