#!/bin/bash
#SBATCH -N1 -n8
srun bash -c 'export ROCR_VISIBLE_DEVICES=$SLURM_LOCALID HIP_VISIBLE_DEVICES=$SLURM_LOCALID; python train.py'
