#!/bin/bash
#SBATCH -n4 --gpus-per-task=1
set -u
echo $SLURM_GPUS_PER_TASK
