#!/bin/bash
#SBATCH -n4 --gpus-per-task=1
echo $SLURM_GPUS_PER_TASK
