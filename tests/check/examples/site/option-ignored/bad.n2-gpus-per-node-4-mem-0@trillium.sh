#!/bin/bash
#SBATCH --account=def-me
#SBATCH -t 60
#SBATCH -N2 --gpus-per-node=4 --mem=0
srun true
