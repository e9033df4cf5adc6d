#!/bin/bash
#SBATCH --time=10
srun python train.py
scancel $SLURM_JOB_ID
