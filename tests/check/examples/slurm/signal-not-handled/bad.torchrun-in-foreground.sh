#!/bin/bash
#SBATCH --signal=B:TERM@120
requeue() { scontrol requeue $SLURM_JOB_ID; }
trap requeue TERM
torchrun --standalone --nproc_per_node=4 train.py
