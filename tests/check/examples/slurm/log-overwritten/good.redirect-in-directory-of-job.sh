#!/bin/bash
#SBATCH --output=%j.out
mkdir -p runs/$SLURM_JOB_ID
cd runs/$SLURM_JOB_ID
python train.py > train.log
srun --output=train_%j.log python train.py
