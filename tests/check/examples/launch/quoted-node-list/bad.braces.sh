#!/bin/bash
nodes=$(scontrol show hostnames $SLURM_JOB_NODELIST)
list=("${nodes}")
srun -w ${list[1]} hostname
