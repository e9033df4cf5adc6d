#!/bin/bash
sbatch --wrap='python train.py --id $SLURM_JOB_ID'
