#!/bin/bash
#SBATCH --time=10
export HF_MODULE_CACHE=/scratch/hf
srun python train.py
