#!/bin/bash
#SBATCH --array=0-4
scontrol show job $SLURM_JOB_ID
