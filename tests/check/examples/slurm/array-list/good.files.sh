#!/bin/bash
#SBATCH --array=0-8
#SBATCH --output=%A_%a.log
files=(data/*.csv)
python train.py ${files[$SLURM_ARRAY_TASK_ID]}
