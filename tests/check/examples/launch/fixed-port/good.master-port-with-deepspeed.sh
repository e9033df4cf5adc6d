#!/bin/bash
#SBATCH --nodes=1 --gpus-per-node=4
export MASTER_PORT=29501
deepspeed --master_port=$((15000 + SLURM_JOB_ID % 17000)) train.py
