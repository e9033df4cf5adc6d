#!/bin/bash
#SBATCH --nodes=1 --ntasks=4
export WORLD_SIZE=8
srun bash -c 'RANK=$SLURM_PROCID python train.py'
