#!/bin/bash
#SBATCH -N 4 --gpus-per-node=4
deepspeed --launcher slurm train.py
