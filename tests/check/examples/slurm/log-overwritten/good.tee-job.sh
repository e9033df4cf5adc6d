#!/bin/bash
srun python train.py | tee train-$SLURM_JOB_ID.log
