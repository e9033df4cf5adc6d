#!/bin/bash
#SBATCH --time=10
#SBATCH --account=def-me
#SBATCH --gpus-per-node=h100:1
srun true
