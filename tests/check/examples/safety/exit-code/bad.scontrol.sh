#!/bin/bash
srun python train.py
scontrol show job $SLURM_JOB_ID
