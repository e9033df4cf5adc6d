#!/bin/bash
#SBATCH --account=def-me
#SBATCH -t 60
#SBATCH --gpus-per-node=l40s:1
srun true
