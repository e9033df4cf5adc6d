#!/bin/bash
#SBATCH --requeue
#SBATCH --output=/dev/null
srun true > "train-$SLURM_JOB_ID.log"
