#!/bin/bash
#SBATCH --time=10
#SBATCH --ntasks=4
SEED=3
python train.py --seed $((SEED)) --tasks $((SLURM_NTASKS)) --now $(date)
