#!/bin/bash
#SBATCH --array=0-3%2
#SBATCH --output=%A_%a.log
declare -a names=("a" "b" "c")
srun python train.py --name "${names[SLURM_ARRAY_TASK_ID]}"
