#!/bin/bash
JOB_NAME=run
srun python train.py
export LAST=$OUT/$JOB_NAME_${EPOCH}.pth
