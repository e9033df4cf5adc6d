#!/bin/bash
name=run
name_=run2
srun python train.py --out=$name_$SLURM_JOB_ID
