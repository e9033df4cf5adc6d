#!/bin/bash
#SBATCH --account=def-me
#SBATCH --time=10
#SBATCH --partition=gpubase_bygpu_b1
#SBATCH --gpus-per-node=h100:1
srun true
