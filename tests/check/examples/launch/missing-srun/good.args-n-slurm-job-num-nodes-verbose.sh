#!/bin/bash
#SBATCH -N 8
args="-N ${SLURM_JOB_NUM_NODES} --verbose"
python -u train.py $args
