#!/bin/bash
#SBATCH -o logs/%j.out
[ -z $SLURM_JOB_ID ] && mkdir -p logs && exec sbatch ${BASH_SOURCE[0]}
srun true
