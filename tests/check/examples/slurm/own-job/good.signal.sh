#!/bin/bash
#SBATCH --time=10
scancel --signal=USR1 $SLURM_JOB_ID
