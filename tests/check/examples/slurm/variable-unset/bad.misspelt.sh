#!/bin/bash
#SBATCH --array=0-9 --ntasks=1
srun python train.py --seed "$SLURM_ARRAY_TASKID"
