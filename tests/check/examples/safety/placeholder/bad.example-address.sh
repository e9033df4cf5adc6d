#!/bin/bash
#SBATCH --time=10 --mail-type=END --mail-user=you@example.com
srun python train.py
