#!/bin/bash
#SBATCH --array=0-4 --signal=B:USR1@60
trap 'scontrol requeue "$SLURM_ARRAY_JOB_ID"' USR1
srun python train.py &
wait
