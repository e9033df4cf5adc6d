#!/bin/bash
#SBATCH -N2
deepspeed --hostfile=hosts --launcher slurm train.py
