#!/bin/bash
python train.py
scontrol requeue $SLURM_JOB_ID
