#!/bin/bash
#SBATCH --nodes=1 --ntasks=1
export RANK=$SLURM_PROCID
srun python train.py
