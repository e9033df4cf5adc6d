#!/bin/bash
#SBATCH --array=0-9 -o %A_%a.log
srun python train.py && scancel --state=PENDING $SLURM_ARRAY_JOB_ID
