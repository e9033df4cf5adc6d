#!/bin/bash
#SBATCH --array=0-3 --job-name=%a-train --output=%A_%a.out
srun python train.py
