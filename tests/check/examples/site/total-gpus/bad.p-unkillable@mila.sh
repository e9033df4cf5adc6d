#!/bin/bash
#SBATCH -p unkillable
#SBATCH -t 10
#SBATCH --gres=gpu:l40s:2
#SBATCH --mem=32G
srun true
