#!/bin/bash
#SBATCH --array=1,2,3
#SBATCH --output=%A_%a.log
set -o pipefail
python train.py --seed $SLURM_ARRAY_TASK_ID 2>&1 | tee train.log
