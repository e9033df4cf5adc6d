#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
export RANK=$SLURM_PROCID
srun bash -c 'export RANK=$SLURM_PROCID; python train.py'
