#!/bin/bash
#SBATCH --time=10
NAME=run
python train.py --name "$NAME-$(SLURM_JOB_ID)"
