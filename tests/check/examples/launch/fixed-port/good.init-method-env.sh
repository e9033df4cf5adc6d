#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=4
export MASTER_PORT=$((15000 + SLURM_JOB_ID % 17000))
srun python main.py --init-method env:// --vocab-size 50257
