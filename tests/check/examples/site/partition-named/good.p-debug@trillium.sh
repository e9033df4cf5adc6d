#!/bin/bash
#SBATCH --account=def-me
#SBATCH --time=1:0:0
#SBATCH -p debug
#SBATCH --gpus-per-node=4
srun true
