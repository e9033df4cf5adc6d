#!/bin/bash
#SBATCH --array=0-4
srun python train.py || scancel ${SLURM_JOB_ID}
