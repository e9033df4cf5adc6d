#!/bin/bash
# sbatch --array=0-9 job.sh
#SBATCH --output=%A_%a.out
srun python train.py
