#!/bin/bash
#SBATCH --ntasks=8 --cpus-per-task=7
srun --jobid $SLURM_JOB_ID python train.py
