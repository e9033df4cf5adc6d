#!/bin/bash
#SBATCH --ntasks=1 --time=10
export TMPDIR=/scratch/tmp_${SLURM_JOB_ID}_${SLURM_ARRAY_TASK_ID}
python train.py # $SLURM_ARRAY_TASK_ID
