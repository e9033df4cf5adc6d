#!/bin/bash
#SBATCH --time=10
module load cuda/12.3.2 ml-tools/2024
conda activate main
srun python train.py
