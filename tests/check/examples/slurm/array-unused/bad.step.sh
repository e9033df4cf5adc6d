#!/bin/bash
#SBATCH --array=0-3 --output=%A_%a.log
srun python train.py --epochs 10
