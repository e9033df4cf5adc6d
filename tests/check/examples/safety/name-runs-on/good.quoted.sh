#!/bin/bash
name=run
srun sed -i 's/$name_$/x/' train.py
# $name_$SLURM_JOB_ID
