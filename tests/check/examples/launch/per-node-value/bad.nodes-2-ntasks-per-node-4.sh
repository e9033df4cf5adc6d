#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
srun bash -c 'export MASTER_ADDR=$(hostname -s); RANK=$SLURM_PROCID python train.py'
